package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/exporter/status"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/etcdlock"
	"github.com/leaderscope/leaderscope/instrument/fence"
	"github.com/leaderscope/leaderscope/redact"
)

// The two locks of the service. Their names say whose they are, so they leave
// the process as keyed hashes.
const (
	leaderLock  = "tenant/acme-canary/settlement-leader"
	leaderLease = 3 * time.Second

	jobLock  = "tenant/acme-canary/settlement-report"
	jobLease = 4 * time.Second
	jobEvery = 2 * time.Second

	// usualShare of its lease is what the job takes.
	usualShare = 0.1
)

// replicaConfig is what a replica is started with.
type replicaConfig struct {
	Name    string
	Member  memberConfig
	Metrics string // address of /metrics
	Store   string // address of the store; empty: it writes to none
	Key     []byte // of the label hashes, the same for all replicas
	KeyID   string
}

// runReplica is the service: it leads when it can, runs the job when it gets
// the lock, and exposes /metrics. It ends when its standard input does.
func runReplica(ctx context.Context, file string) error {
	cfg, err := readReplicaConfig(file)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	m, err := instrument.New(instrument.WithRedactor(redact.Hash(cfg.Key, cfg.KeyID)))
	if err != nil {
		return err
	}
	defer m.Close()
	r := &replica{
		name: cfg.Name, share: usualShare, member: newMember(cfg.Member), store: newStoreClient(cfg.Store),
		leading: m.Election(leaderLock, instrument.Hold(), instrument.LeaseDuration(leaderLease),
			instrument.Backend("etcd"), instrument.Family("settlement-leader")),
		report: m.Election(jobLock, instrument.LeaseDuration(jobLease), instrument.ExpectEvery(jobEvery),
			instrument.Backend("etcd"), instrument.Family("settlement-report"), instrument.Classify(jobErrors)),
	}
	mux, err := metricsOf(m)
	if err != nil {
		return err
	}
	mux.Handle("/status", status.Handler(m, status.WithInstance(cfg.Name), status.WithRefresh(time.Second)))
	mux.Handle("/ready", status.Ready(m, status.NotWhileOverrun()))
	_, stop, err := serve(cfg.Metrics, mux)
	if err != nil {
		return err
	}
	defer stop()
	return r.run(ctx, cancel)
}

// replica is the running service.
type replica struct {
	name    string
	member  *member
	store   *storeClient // nil: none
	leading *instrument.Election
	report  *instrument.Election

	mu    sync.Mutex
	aloof bool // stays out of the election
	leave context.CancelFunc
	share float64 // of its lease that the next job takes; negative: no jobs
	fails bool    // the job
}

func (r *replica) run(ctx context.Context, cancel context.CancelFunc) error {
	if err := r.member.start(); err != nil {
		return err
	}
	defer r.member.leave()
	client, err := r.member.client()
	if err != nil {
		return err
	}
	defer client.Close()

	var work sync.WaitGroup
	work.Go(func() { r.lead(ctx, client) })
	work.Go(func() { r.runJobs(ctx, client) })
	err = r.obey(ctx)
	cancel()
	work.Wait()
	return err
}

// lead campaigns, leads, and campaigns again.
func (r *replica) lead(ctx context.Context, client *clientv3.Client) {
	elector := etcdlock.NewElection(client, leaderLock, r.name, leaderLease)
	for wait(ctx, 0) {
		campaign, stop := r.campaign(ctx)
		err := r.leading.Run(campaign, elector, r.settle)
		stop()
		if err != nil && !wait(ctx, time.Second) {
			return
		}
	}
}

// campaign waits until the replica may campaign, and returns a context that
// ends when it no longer may.
func (r *replica) campaign(ctx context.Context) (context.Context, context.CancelFunc) {
	for {
		r.mu.Lock()
		if !r.aloof || ctx.Err() != nil {
			defer r.mu.Unlock()
			ctx, r.leave = context.WithCancel(ctx)
			return ctx, r.leave
		}
		r.mu.Unlock()
		wait(ctx, 100*time.Millisecond)
	}
}

// settle is the leader's work: small steps, each with a write at its end. A step
// that has begun is written although the term has ended meanwhile: a look before
// the write would make that rarer, and only the store can refuse it.
func (r *replica) settle(ctx context.Context, term *instrument.Term) error {
	for goesOn := true; goesOn; {
		goesOn = wait(ctx, 50*time.Millisecond)
		err := r.store.write(fence.WithTerm(context.WithoutCancel(ctx), term))
		if errors.Is(err, fence.ErrStale) {
			return nil // another replica leads; the lease says so next
		}
		// Any other error leaves the entry to a later step.
	}
	return nil
}

// runJobs tries the job at each tick; the replica that gets the lock runs it.
func (r *replica) runJobs(ctx context.Context, client *clientv3.Client) {
	lock := fixedLease(client, jobLock, jobLease)
	for wait(ctx, jobEvery) {
		if r.jobShare() < 0 {
			continue
		}
		// An error is counted by its reason, and the next tick tries again.
		_ = r.report.Run(ctx, lock, r.writeReport)
	}
}

// writeReport takes its share of the lease. It does not look whether it still
// has the lock: that is what the alerts are about.
func (r *replica) writeReport(ctx context.Context, term *instrument.Term) error {
	leaseEnd, _ := term.Expiry()
	granted := leaseEnd.Add(-jobLease)
	end := granted.Add(time.Duration(r.jobShare() * float64(jobLease)))
	wait(context.WithoutCancel(ctx), time.Until(end))
	return r.jobResult()
}

func (r *replica) jobResult() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fails {
		return errors.New("the report could not be written")
	}
	return nil
}

func (r *replica) jobShare() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.share
}

// obey carries out the parent's commands, a line each, until the input ends.
func (r *replica) obey(ctx context.Context) error {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			lines <- in.Text()
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case line, ok := <-lines:
			if !ok {
				return nil
			}
			if err := r.command(strings.Fields(line)); err != nil {
				return fmt.Errorf("command %q: %w", line, err)
			}
		}
	}
}

func (r *replica) command(words []string) error {
	switch {
	case len(words) == 2 && words[0] == "job" && words[1] == "fail":
		r.mu.Lock()
		defer r.mu.Unlock()
		r.fails = true
		return nil
	case len(words) == 2 && words[0] == "job":
		share, err := strconv.ParseFloat(words[1], 64)
		r.mu.Lock()
		r.share, r.fails = share, false
		r.mu.Unlock()
		return err
	case len(words) == 2 && words[0] == "campaign" && (words[1] == "off" || words[1] == "on"):
		r.mu.Lock()
		defer r.mu.Unlock()
		r.aloof = words[1] == "off"
		if r.aloof && r.leave != nil {
			r.leave()
		}
		return nil
	case len(words) == 2 && words[0] == "member" && words[1] == "start":
		return r.member.start()
	case len(words) == 2 && words[0] == "member" && words[1] == "stop":
		r.member.stop()
		return nil
	default:
		return errors.New("want: job SHARE, job fail, campaign on or off, member start or stop")
	}
}

func readReplicaConfig(file string) (replicaConfig, error) {
	var cfg replicaConfig
	b, err := os.ReadFile(file)
	if err != nil {
		return cfg, err
	}
	return cfg, json.Unmarshal(b, &cfg)
}

// metricsOf routes /metrics, and nothing else yet.
func metricsOf(m *instrument.Middleware) (*http.ServeMux, error) {
	registry := prometheus.NewRegistry()
	if _, err := prom.Register(registry, m); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return mux, nil
}

// serve returns the address on which it listens.
func serve(address string, handler http.Handler) (at string, stop func(), err error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(listener)
	return listener.Addr().String(), func() { server.Close() }, nil
}

// wait sleeps for d and reports whether ctx is still alive.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
