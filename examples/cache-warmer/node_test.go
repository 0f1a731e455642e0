//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bsm/redislock"
	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

const lease = 3 * time.Second

type load = func(ctx context.Context, partition string, keep func(context.Context) error) error

func newWarmer(t *testing.T, lock func(string) instrument.Acquirer, load load) (*warmer, *instrument.Middleware) {
	t.Helper()
	m, err := instrument.New(instrument.WithRedactor(redact.Raw()))
	if err != nil {
		t.Fatal(err)
	}
	return &warmer{
		election: elections(m, lease),
		lock:     lock,
		lease:    lease,
		isFresh:  func(context.Context, string) (bool, error) { return false, nil },
		load:     load,
	}, m
}

// free is a lock that can be had and renewed.
func free(string) instrument.Acquirer {
	return electtest.Wins(instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error { return nil })))
}

func TestAPartitionThatFailsIsIsolated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("source is down")
		var mu sync.Mutex
		loaded := map[string]bool{}
		w, m := newWarmer(t, free, func(ctx context.Context, partition string, _ func(context.Context) error) error {
			if partition == "1" {
				return down // at once, while the others load
			}
			if err := pause(ctx, time.Second); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			loaded[partition] = true
			return nil
		})
		begin := time.Now()
		err := w.cycle(t.Context(), []string{"0", "1", "2"})
		if took := time.Since(begin); took != time.Second {
			t.Errorf("it took %v: the partitions do not load in parallel", took)
		}
		if !errors.Is(err, down) || err.Error() != "partition 1: source is down" {
			t.Errorf("error %v, want that of partition 1 and no other", err)
		}
		if diff := cmp.Diff(map[string]bool{"0": true, "2": true}, loaded); diff != "" {
			t.Errorf("loaded (-want +got):\n%s", diff)
		}
		want := map[string]stage.Count{"cache/0": {Runs: 1}, "cache/1": {Runs: 1, Failures: 1}, "cache/2": {Runs: 1}}
		if diff := cmp.Diff(want, w.tally.Counts()); diff != "" {
			t.Errorf("counted (-want +got):\n%s", diff)
		}
		for label, c := range want {
			if got := electtest.Read(m, label)[electtest.Of(catalog.ExecutionFailures, "error")]; got != float64(c.Failures) {
				t.Errorf("%s: %v failures, want %d", label, got, c.Failures)
			}
		}
	})
}

func TestAPartitionIsLoadedWhenItMustBe(t *testing.T) {
	down := errors.New("connection refused")
	for _, c := range []struct {
		name    string
		fresh   []bool
		unknown error // instead of the first
		lock    error
		loads   int
		err     error
		counted stage.Count
	}{
		{name: "not while it is fresh", fresh: []bool{true}},
		{name: "not when another loads it", fresh: []bool{false}, lock: redislock.ErrNotObtained, counted: stage.Count{NotAcquired: 1}},
		{name: "not when another has loaded it meanwhile", fresh: []bool{false, true}, counted: stage.Count{Runs: 1}},
		{name: "not without the lock", fresh: []bool{false}, lock: down, err: down, counted: stage.Count{NotAcquired: 1}},
		{name: "not when it is unknown whether it is fresh, and the lock is not to be had", fresh: []bool{false}, unknown: down, lock: down, err: down, counted: stage.Count{NotAcquired: 1}},
		{name: "when it turns out under the lock that it is stale", fresh: []bool{false, false}, unknown: down, loads: 1, counted: stage.Count{Runs: 1}},
		{name: "when it is stale", fresh: []bool{false, false}, loads: 1, counted: stage.Count{Runs: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			loads := 0
			lock := free
			if c.lock != nil {
				lock = func(string) instrument.Acquirer { return electtest.Fails(c.lock) }
			}
			w, _ := newWarmer(t, lock, func(context.Context, string, func(context.Context) error) error {
				loads++
				return nil
			})
			w.isFresh = func(context.Context, string) (bool, error) {
				fresh := c.fresh[0]
				c.fresh = c.fresh[1:]
				err := c.unknown
				c.unknown = nil
				return fresh, err
			}
			if err := w.warm(t.Context(), "0"); !errors.Is(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
			if loads != c.loads {
				t.Errorf("loaded %d times, want %d", loads, c.loads)
			}
			if diff := cmp.Diff(c.counted, w.tally.Counts()["cache/0"]); diff != "" {
				t.Errorf("counted (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALoadLongerThanItsLeaseIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := newWarmer(t, free, func(ctx context.Context, _ string, keep func(context.Context) error) error {
			for range 20 {
				if err := errors.Join(pause(ctx, lease/6), keep(ctx)); err != nil {
					return err
				}
			}
			return nil
		})
		if err := w.warm(t.Context(), "0"); err != nil {
			t.Fatal(err)
		}
		r := electtest.Read(m, "cache/0")
		if r[electtest.Of(catalog.Renewals, "ok")] != 10 || r[electtest.Of(catalog.LeaseOverruns)] != 0 {
			t.Errorf("want ten renewals and no overrun: %v", r)
		}
	})
}

func TestALoadStopsWhenTheLeaseCannotBeRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := func(string) instrument.Acquirer {
			return electtest.Wins(instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error {
				return errors.Join(redislock.ErrNotObtained, instrument.ErrSessionLost)
			})))
		}
		wrote := false
		w, m := newWarmer(t, lost, func(ctx context.Context, _ string, keep func(context.Context) error) error {
			if err := errors.Join(pause(ctx, 2*lease), keep(ctx)); err != nil {
				return err
			}
			wrote = true
			return nil
		})
		if err := w.warm(t.Context(), "0"); !errors.Is(err, redislock.ErrNotObtained) || wrote {
			t.Errorf("error %v, wrote %v", err, wrote)
		}
		r := electtest.Read(m, "cache/0")
		for key, want := range map[string]float64{
			electtest.Of(catalog.Renewals, "lost"): 1, electtest.Of(catalog.LeaseOverruns): 1,
			electtest.Of(catalog.WorkAfterLoss): lease.Seconds(), electtest.Of(catalog.ExecutionFailures, "error"): 1,
		} {
			if r[key] != want {
				t.Errorf("%s is %v, want %v", key, r[key], want)
			}
		}
	})
}

func TestBeingToldToStopIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		w, m := newWarmer(t, free, func(ctx context.Context, _ string, _ func(context.Context) error) error { return pause(ctx, time.Hour) })
		if err := w.cycle(ctx, []string{"0"}); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
		if diff := cmp.Diff(map[string]stage.Count{"cache/0": {Runs: 1}}, w.tally.Counts()); diff != "" {
			t.Errorf("counted (-want +got):\n%s", diff)
		}
		if got := electtest.Read(m, "cache/0")[electtest.Of(catalog.ExecutionFailures, "error")]; got != 0 {
			t.Errorf("exported %v failures", got)
		}
	})
}

func TestACommandLineThatMakesNoSenseIsRefused(t *testing.T) {
	right := config{name: "a", redis: "127.0.0.1:6379", lease: lease, fresh: time.Second, every: time.Second}
	if err := right.check(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*config){
		"--node a: a node needs --redis HOST:PORT": func(c *config) { c.redis = "" },
		"--lease 0s: want 100ms or more":           func(c *config) { c.lease = 0 },
		"--chunk -1s: want 0 or more":              func(c *config) { c.chunk = -time.Second },
		"--fresh 0s: want 1ms or more":             func(c *config) { c.fresh = 0 },
		"--every 0s: want 1ms or more":             func(c *config) { c.every = 0 },
	} {
		c := right
		change(&c)
		if got := fmt.Sprint(c.check()); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
