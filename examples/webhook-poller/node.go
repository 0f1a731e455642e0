//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/sqllock"
)

// lockName is that of the one poller.
const lockName = "webhook-poller"

// runNode is one node of the service, until ctx ends.
func runNode(ctx context.Context, cfg config) error {
	m, err := instrument.New()
	if err != nil {
		return err
	}
	defer m.Close()
	registry := prometheus.NewRegistry()
	if _, err := prom.Register(registry, m); err != nil {
		return err
	}
	_, stop, err := stage.ServeMetrics(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	if err != nil {
		return err
	}
	defer stop()
	db, err := open(cfg.postgres, cfg.schema)
	if err != nil {
		return err
	}
	defer db.Close()

	p := &poller{
		election: m.Election(lockName, instrument.Hold(), instrument.Backend("postgres")),
		lock:     sqllock.NewLock(db, sqllock.Postgres(lockKey(cfg.schema)), 500*time.Millisecond),
		outbox:   &sqlOutbox{db, cfg.claim, cfg.limit},
		// Half of the claim's lease is left to note what came of it.
		deliver: deliverer(&http.Client{Timeout: cfg.claim / 2}),
		every:   cfg.every,
	}
	work, leave := stage.Cues(ctx)
	p.campaign(work)
	err = stage.Report(report{p.tally.Counts(), p.noted})
	leave()
	return err
}

// report is what a node says of itself.
type report struct {
	Counts map[string]stage.Count
	Noted  noted
}

// noted counts what became of webhooks.
type noted struct {
	Delivered, Refused int
	// Late are those whose claim had gone to another meanwhile.
	Late int
}

// outbox is what the poller needs of the table; see sqlOutbox.
type outbox interface {
	take(ctx context.Context, n int) ([]webhook, error)
	delivered(ctx context.Context, w webhook) (bool, error)
	refused(ctx context.Context, w webhook, again time.Duration) (bool, error)
	giveUp(ctx context.Context) (int, error)
}

// poller polls while it leads. Being the leader makes polling cheap; it is the
// claim on a row that keeps two from delivering it at the same time, since a
// leader may have been deposed without knowing it yet.
type poller struct {
	election *instrument.Election
	lock     instrument.Acquirer
	outbox   outbox
	deliver  func(context.Context, webhook) error
	every    time.Duration
	tally    stage.Tally // what it counts itself, to be compared

	mu    sync.Mutex
	noted noted
}

// campaign leads whenever it can, until ctx ends.
func (p *poller) campaign(ctx context.Context) {
	for {
		ran := false
		// The error is in the series, by its reason.
		_ = p.election.Run(ctx, p.lock, func(ctx context.Context, _ *instrument.Term) error {
			ran = true
			err := p.lead(ctx)
			p.tally.Ran(p.election.Label(), err != nil && !(errors.Is(err, context.Canceled) && ctx.Err() != nil))
			return err
		})
		if !ran {
			p.tally.Missed(p.election.Label())
		}
		if !stage.Wait(ctx, p.every) {
			return
		}
	}
}

// lead polls until ctx ends, which it does when the term is lost.
func (p *poller) lead(ctx context.Context) error {
	for {
		n, err := p.poll(ctx)
		if err != nil {
			return err
		}
		if n == 0 && !stage.Wait(ctx, p.every) {
			return ctx.Err()
		}
	}
}

// batch is how many webhooks are delivered at the same time.
const batch = 10

// poll claims a batch, delivers it, and returns its size.
func (p *poller) poll(ctx context.Context) (int, error) {
	if _, err := p.outbox.giveUp(ctx); err != nil {
		return 0, err
	}
	taken, err := p.outbox.take(ctx, batch)
	if err != nil {
		return 0, err
	}
	failed := make([]error, len(taken))
	var all sync.WaitGroup
	for i, w := range taken {
		all.Go(func() { failed[i] = p.handle(ctx, w) })
	}
	all.Wait()
	return len(taken), errors.Join(failed...)
}

// handle delivers one webhook and notes what came of it. A crash between the
// two leaves the claim to run out, and the webhook is delivered again: at
// least once, never silently not at all.
func (p *poller) handle(ctx context.Context, w webhook) error {
	err := p.deliver(ctx, w)
	if err != nil && ctx.Err() != nil {
		return ctx.Err() // it is unknown whether it arrived; the claim runs out
	}
	// What has happened is noted even if the leadership ends now.
	noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	var ours bool
	var failed error
	if err == nil {
		ours, failed = p.outbox.delivered(noting, w)
	} else {
		ours, failed = p.outbox.refused(noting, w, time.Duration(w.attempts)*p.every)
	}
	if failed != nil {
		return failed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !ours:
		p.noted.Late++
	case err == nil:
		p.noted.Delivered++
	default:
		p.noted.Refused++
	}
	return nil
}

// deliverer posts webhooks, with a key by which a receiver knows one that it
// has already.
func deliverer(client *http.Client) func(context.Context, webhook) error {
	return func(ctx context.Context, w webhook) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, strings.NewReader(w.payload))
		if err != nil {
			return err
		}
		req.Header.Set("Idempotency-Key", strconv.FormatInt(w.id, 10))
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
		if resp.StatusCode >= 300 {
			return fmt.Errorf("answered %s", resp.Status)
		}
		return nil
	}
}

// lockKey is the number of the lock, one for each schema.
func lockKey(schema string) int64 {
	h := fnv.New64a()
	h.Write([]byte(lockName + "/" + schema))
	return int64(h.Sum64())
}
