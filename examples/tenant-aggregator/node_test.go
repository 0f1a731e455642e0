//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

const (
	lease = 2 * time.Second
	every = 100 * time.Millisecond
)

// newNode is a node on a lock server in memory.
func newNode(t *testing.T, server *electtest.Memory, aggregate func(context.Context, string) error) (*aggregator, *instrument.Middleware) {
	t.Helper()
	m, err := instrument.New(instrument.WithRedactor(redact.Raw()))
	if err != nil {
		t.Fatal(err)
	}
	return &aggregator{
		election:  elections(m, lease),
		lock:      func(name string) instrument.Acquirer { return server.Acquirer(name, lease, false) },
		aggregate: aggregate,
		every:     every,
	}, m
}

func fixed(tenants ...string) func(context.Context) ([]string, error) {
	return func(context.Context) ([]string, error) { return tenants, nil }
}

func TestTenantsRunInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var both sync.WaitGroup
		both.Add(2)
		met := make(chan bool, 2)
		var once sync.Map
		a, _ := newNode(t, electtest.NewMemory(), func(ctx context.Context, tenant string) error {
			if _, again := once.LoadOrStore(tenant, true); !again {
				both.Done()
				both.Wait() // for the other tenant, which is inside too
				met <- true
			}
			return pause(ctx, every)
		})
		go a.follow(ctx, fixed("acme", "globex"))
		<-met
		<-met
		cancel()
		synctest.Wait()
	})
}

func TestATenantIsNeverAggregatedByTwoNodesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		inside, runs := map[string]int{}, map[string]int{}
		aggregate := func(ctx context.Context, tenant string) error {
			mu.Lock()
			inside[tenant]++
			runs[tenant]++
			if inside[tenant] > 1 {
				t.Errorf("%s is aggregated by two", tenant)
			}
			mu.Unlock()
			defer func() {
				mu.Lock()
				inside[tenant]--
				mu.Unlock()
			}()
			return pause(ctx, 70*time.Millisecond)
		}
		server := electtest.NewMemory()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var nodes sync.WaitGroup
		for range 3 {
			a, _ := newNode(t, server, aggregate)
			nodes.Go(func() { a.follow(ctx, fixed("acme", "globex", "initech")) })
		}
		nodes.Wait()
		for _, tenant := range []string{"acme", "globex", "initech"} {
			if runs[tenant] < 20 {
				t.Errorf("%s was aggregated %d times, want at least 20", tenant, runs[tenant])
			}
		}
	})
}

func TestAFailingTenantStopsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*every+every/2)
		defer cancel()
		a, m := newNode(t, electtest.NewMemory(), func(_ context.Context, tenant string) error {
			if tenant == "hooli" {
				return errors.New("cannot be read")
			}
			return nil
		})
		if err := a.follow(ctx, fixed("acme", "hooli")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("follow: %v", err)
		}
		want := map[string]stage.Count{"tenant-acme/aggregate": {Runs: 11}, "tenant-hooli/aggregate": {Runs: 11, Failures: 11}}
		if diff := cmp.Diff(want, a.tally.Counts()); diff != "" {
			t.Errorf("counted (-want +got):\n%s", diff)
		}
		for label, c := range want {
			r := electtest.Read(m, label)
			if got := r[electtest.Of(catalog.ExecutionFailures, "error")]; got != float64(c.Failures) {
				t.Errorf("%s: %v failures, want %d", label, got, c.Failures)
			}
		}
	})
}

func TestTheListOfTenantsMayChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var mu sync.Mutex
		tenants, failure := []string{"acme", "umbrella"}, error(nil)
		set := func(err error, list ...string) {
			mu.Lock()
			defer mu.Unlock()
			tenants, failure = list, err
		}
		a, m := newNode(t, electtest.NewMemory(), func(context.Context, string) error { return nil })
		go a.follow(ctx, func(context.Context) ([]string, error) {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(tenants), failure
		})
		for _, step := range []struct {
			name string
			err  error
			list []string
			want []string
		}{
			{"at first", nil, []string{"acme", "umbrella"}, []string{"tenant-acme/aggregate", "tenant-umbrella/aggregate"}},
			{"one leaves, one joins", nil, []string{"acme", "stark"}, []string{"tenant-acme/aggregate", "tenant-stark/aggregate"}},
			{"the list cannot be read", errors.New("down"), nil, []string{"tenant-acme/aggregate", "tenant-stark/aggregate"}},
			{"all leave", nil, nil, nil},
			{"one is back", nil, []string{"umbrella"}, []string{"tenant-umbrella/aggregate"}},
		} {
			set(step.err, step.list...)
			time.Sleep(3 * every)
			synctest.Wait()
			if diff := cmp.Diff(step.want, electtest.Labels(m)); diff != "" {
				t.Errorf("%s: labels with series (-want +got):\n%s", step.name, diff)
			}
			var counted []string
			for label := range a.tally.Counts() {
				counted = append(counted, label)
			}
			slices.Sort(counted)
			if diff := cmp.Diff(step.want, counted); diff != "" {
				t.Errorf("%s: workers (-want +got):\n%s", step.name, diff)
			}
		}
	})
}

func TestCancellationReachesTheRunAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		server := electtest.NewMemory()
		a, m := newNode(t, server, func(ctx context.Context, _ string) error { return pause(ctx, time.Hour) })
		worker, returned := "tenant-acme/aggregate", make(chan error)
		go func() { returned <- a.work(ctx, "acme") }()
		synctest.Wait()
		if r := electtest.Read(m, worker); r[electtest.Of(catalog.Running)] != 1 {
			t.Fatalf("does not run: %v", r)
		}
		cancel()
		if err := <-returned; !errors.Is(err, context.Canceled) {
			t.Errorf("the worker returned %v, want context.Canceled", err)
		}
		if diff := cmp.Diff(map[string]stage.Count{worker: {Runs: 1}}, a.tally.Counts()); diff != "" {
			t.Errorf("counted (-want +got):\n%s", diff)
		}
		if r := electtest.Read(m, worker); r[electtest.Of(catalog.ExecutionFailures, "error")] != 0 || r[electtest.Of(catalog.Releases, "ok")] != 1 {
			t.Errorf("want no failure and one release: %v", r)
		}
		if _, err := server.Acquirer(worker, lease, false).Acquire(t.Context()); err != nil {
			t.Errorf("the lock is not free: %v", err)
		}
	})
}

func TestARunEndsWithItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, m := newNode(t, nil, func(ctx context.Context, _ string) error { return pause(ctx, time.Hour) })
		end := time.Now().Add(lease)
		a.lock = func(string) instrument.Acquirer {
			return electtest.Wins(instrument.NewLease(nil, instrument.ExpiryFrom(func() time.Time { return end })))
		}
		a.once(t.Context(), "acme")
		if got := time.Since(end); got != 0 {
			t.Errorf("it ended %v after the lease", got)
		}
		r := electtest.Read(m, "tenant-acme/aggregate")
		if r[electtest.Of(catalog.ExecutionFailures, "error")] != 1 || r[electtest.Of(catalog.WorkAfterLoss)] != 0 {
			t.Errorf("want a failure, and no work after loss: %v", r)
		}
	})
}

func TestACommandLineThatMakesNoSenseIsRefused(t *testing.T) {
	right := nodeConfig{name: "a", redis: "127.0.0.1:6379", lease: lease, every: every}
	if err := right.check(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*nodeConfig){
		"--node a: a node needs --redis HOST:PORT": func(c *nodeConfig) { c.redis = "" },
		"--lease 0s: want 100ms or more":           func(c *nodeConfig) { c.lease = 0 },
		"--every 0s: want 1ms or more":             func(c *nodeConfig) { c.every = 0 },
		"--work -1s: want 0 or more":               func(c *nodeConfig) { c.work = -time.Second },
	} {
		c := right
		change(&c)
		if got := fmt.Sprint(c.check()); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
