package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/redact"
)

const (
	tempPrefix = "leaderscope-quickstart-"
	prefix     = alerts.Prefix
	// patience bounds each wait for something that must happen.
	patience = time.Minute
)

// replicas of the healthy service.
var replicas = []string{"replica-1", "replica-2", "replica-3"}

// demo is the stage: replicas, an observer, a screen, and the files of all.
type demo struct {
	dir      string
	janitor  *process
	key      []byte
	leader   string // label of the held lock
	job      string // label of the job's lock
	locks    locks
	screen   *screen
	cluster  *cluster
	store    *store
	observer *observer
	outside  *outside               // nil: leader-observer does not run
	phase    atomic.Pointer[string] // the current phase, for the screen
	played   []played
}

// newDemo starts everything. What it returns must be closed, with an error
// too.
func newDemo(s *screen) (*demo, error) {
	d := &demo{screen: s, key: make([]byte, redact.MinKeySize)}
	rand.Read(d.key) // never fails
	policy := redact.Hash(d.key, keyID)
	err := policy.Err()
	if err != nil {
		return d, err
	}
	d.leader, d.job = policy.Label(leaderLock).Text, policy.Label(jobLock).Text
	d.locks = locks{d.leader: "leader", d.job: "job", "": "service"} // an alert about no lock is about the service

	if d.dir, err = os.MkdirTemp("", tempPrefix); err != nil {
		return d, err
	}
	d.cluster = newCluster(d.dir, func(format string, args ...any) { s.say("  ! "+format, args...) })
	if d.janitor, err = d.cluster.launcher.launch(janitorVariable, d.dir, filepath.Join(d.dir, "janitor.log"), ownGroupThatSurvives()); err != nil {
		return d, err
	}
	if err := d.writeRules(); err != nil {
		return d, err
	}
	if d.store, err = newStore(policy); err != nil {
		return d, err
	}
	if err := d.announce(storeName, d.store.address); err != nil {
		return d, err
	}
	if d.observer, err = newObserver(d.dir, d.rulesFile()); err != nil {
		return d, err
	}
	if err := d.cluster.add(d.key, d.store.address, replicas...); err != nil {
		return d, err
	}
	d.observer.others[storeName] = d.store.address
	return d, d.scrape(d.cluster.addresses())
}

// scrape replaces the replicas that are scraped, here and by a Prometheus of
// one's own.
func (d *demo) scrape(addresses map[string]string) error {
	if err := writeWhole(d.targetsFile(), targetsJSON(addresses, d.observer.others), 0o600); err != nil {
		return err
	}
	d.observer.scrape(addresses)
	return nil
}

// close leaves no process, no port and no file behind.
func (d *demo) close() error {
	var errs []error
	if d.observer != nil {
		errs = append(errs, d.observer.close())
	}
	if d.janitor != nil {
		d.janitor.stdin.Close() // it removes the files
		defer func() { <-d.janitor.ended }()
	}
	if d.outside != nil {
		d.outside.process.kill()
	}
	if d.cluster != nil {
		d.cluster.close()
	}
	if d.store != nil {
		d.store.stop()
	}
	if d.dir != "" {
		errs = append(errs, removeAll(d.dir))
	}
	return errors.Join(errs...)
}

// announce writes where a program that is no replica has its /metrics: a
// Prometheus of one's own finds it there, as it finds the replicas.
func (d *demo) announce(name, address string) error {
	return writePrivate(filepath.Join(d.dir, name+".json"), fmt.Appendf(nil, "{\"Metrics\":%q}\n", address))
}

func (d *demo) setPhase(title string) { d.phase.Store(&title) }

func (d *demo) currentPhase() string {
	if title := d.phase.Load(); title != nil {
		return *title
	}
	return "Starting"
}

func (d *demo) targetsFile() string { return filepath.Join(d.dir, "targets.json") }

func (d *demo) rulesFile() string { return filepath.Join(d.dir, "rules.yml") }

func (d *demo) writeRules() error {
	y, err := alerts.YAML(demoAlerts())
	if err != nil {
		return err
	}
	return os.WriteFile(d.rulesFile(), y, 0o644)
}

// until polls cond and fails when it does not come true in time.
func until(ctx context.Context, what string, limit time.Duration, cond func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("waited %v for %s", limit, what))
	defer cancel()
	for {
		if done, err := cond(); done || err != nil {
			return err
		}
		if !wait(ctx, 100*time.Millisecond) {
			return context.Cause(ctx)
		}
	}
}

// value is a metric of one lock, by replica.
func (d *demo) value(ctx context.Context, m *catalog.Metric, lock string) (map[string]float64, error) {
	return d.observer.query(ctx, fmt.Sprintf("%s{%s=%q}", m.Name(), lockLabel, lock))
}

// leads returns the replicas that lead, as far as the last scrape knows.
func (d *demo) leads(ctx context.Context) ([]string, error) {
	active, err := d.value(ctx, catalog.Active, d.leader)
	names := slices.DeleteFunc(sortedNames(active), func(name string) bool { return active[name] != 1 })
	return names, err
}

// onlyLeader waits until exactly one replica leads, other than not.
func (d *demo) onlyLeader(ctx context.Context, not string) (leader string, err error) {
	err = until(ctx, "one leader", patience, func() (bool, error) {
		names, err := d.leads(ctx)
		if err != nil || len(names) != 1 || names[0] == not {
			return false, err
		}
		leader = names[0]
		return true, nil
	})
	return leader, err
}

// allUp waits until every replica is scraped.
func (d *demo) allUp(ctx context.Context) error {
	return until(ctx, "every replica to be scraped", patience, func() (bool, error) {
		up, err := d.observer.query(ctx, fmt.Sprintf("up{job=%q} == 1", jobName))
		return len(up) == len(d.cluster.names()), err
	})
}

// jobsRest stops the jobs and waits until none has run for a while.
func (d *demo) jobsRest(ctx context.Context) error {
	d.cluster.tell(d.cluster.names(), "job -1")
	rest := fmt.Sprintf("sum(increase(%s{%s=%q}[4s])) + sum(%s{%[2]s=%[3]q}) == 0", catalog.Attempts.Name(), lockLabel, d.job, catalog.Running.Name())
	return until(ctx, "the jobs to rest", patience, func() (bool, error) {
		values, err := d.observer.query(ctx, rest)
		return len(values) == 1, err
	})
}

// quiet looks for a while whether nothing happens.
func (d *demo) quiet(ctx context.Context, span time.Duration) error {
	if !wait(ctx, span) {
		return context.Cause(ctx)
	}
	return nil
}

// exposes reports whether the replica's own /metrics show this value now.
func (d *demo) exposes(ctx context.Context, replica string, m *catalog.Metric, lock, value string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	text, err := get(ctx, "http://"+d.cluster.addresses()[replica]+"/metrics")
	return strings.Contains(text, fmt.Sprintf("\n%s{%s=%q} %s\n", m.Name(), lockLabel, lock, value)), err
}

func get(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}
