//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

const budget = 5 * time.Second

var errUnknown = errors.New("permission denied")

// read is one answer of the marker.
type read struct {
	done bool
	err  error
}

// newGate is a gate whose marker gives these answers, one after another.
func newGate(t *testing.T, lock instrument.Acquirer, polls ...read) (*gate, *instrument.Middleware) {
	t.Helper()
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	return &gate{
		election: m.Election(lockName, instrument.LeaseDuration(budget)),
		lock:     lock,
		applied: func(context.Context) (bool, error) {
			if len(polls) == 0 {
				t.Fatal("one look too many")
			}
			l := polls[0]
			polls = polls[1:]
			return l.done, l.err
		},
		migrate: func(context.Context) (bool, error) {
			t.Error("it migrates")
			return false, nil
		},
		every: time.Second,
	}, m
}

func TestTheGate(t *testing.T) {
	no, yes, unknown := read{}, read{done: true}, read{err: errUnknown}
	free := instrument.NewLease(nil)
	unreturnable := instrument.NewLease(func(context.Context) error { return instrument.ErrSessionLost })
	down := errors.New("connection refused")
	failed := errors.New("no space left")
	migrates := func(did bool, err error) func(context.Context) (bool, error) {
		return func(context.Context) (bool, error) { return did, err }
	}
	for _, c := range []struct {
		name    string
		lock    []electtest.Step
		polls   []read
		migrate func(context.Context) (bool, error) // nil: must not be called
		want    outcome
		err     error
		counted stage.Count
	}{
		{name: "an applied migration needs no lock", polls: []read{yes}, want: alreadyApplied},
		{name: "one migrates", lock: []electtest.Step{{Lease: free}}, polls: []read{no, no, yes}, migrate: migrates(true, nil), want: migrated, counted: stage.Count{Runs: 1}},
		{name: "one waits until another has migrated", lock: []electtest.Step{{Err: instrument.ErrContended}}, polls: []read{no, no, yes}, want: alreadyApplied, counted: stage.Count{NotAcquired: 2}},
		{name: "one waits for another that gave up, and migrates", lock: []electtest.Step{{Err: instrument.ErrContended}, {Lease: free}}, polls: []read{no, no, no, yes}, migrate: migrates(true, nil), want: migrated, counted: stage.Count{Runs: 1, NotAcquired: 1}},
		{name: "under the lock it is found to be applied", lock: []electtest.Step{{Lease: free}}, polls: []read{no, yes, yes}, want: alreadyApplied, counted: stage.Count{Runs: 1}},
		{name: "the marker was set by another that had lost the lock", lock: []electtest.Step{{Lease: free}}, polls: []read{no, no, yes}, migrate: migrates(false, nil), want: alreadyApplied, counted: stage.Count{Runs: 1}},
		{name: "a lock that cannot be given back changes nothing", lock: []electtest.Step{{Lease: unreturnable}}, polls: []read{no, no, yes}, migrate: migrates(true, nil), want: migrated, counted: stage.Count{Runs: 1}},

		{name: "unknown before the lock is a failure", polls: []read{unknown}, err: errUnknown},
		{name: "unknown while another migrates is a failure", lock: []electtest.Step{{Err: instrument.ErrContended}}, polls: []read{no, unknown}, err: errUnknown, counted: stage.Count{NotAcquired: 1}},
		{name: "unknown under the lock is a failure, and nothing is migrated", lock: []electtest.Step{{Lease: free}}, polls: []read{no, unknown}, err: errUnknown, counted: stage.Count{Runs: 1, Failures: 1}},
		{name: "unknown after the lock is a failure", lock: []electtest.Step{{Lease: free}}, polls: []read{no, no, unknown}, migrate: migrates(true, nil), err: errUnknown, counted: stage.Count{Runs: 1}},
		{name: "a marker that is not there afterwards is a failure", lock: []electtest.Step{{Lease: free}}, polls: []read{no, no, no}, migrate: migrates(true, nil), err: errors.ErrUnsupported, counted: stage.Count{Runs: 1}},
		{name: "a migration that fails is a failure", lock: []electtest.Step{{Lease: free}}, polls: []read{no, no}, migrate: migrates(false, failed), err: failed, counted: stage.Count{Runs: 1, Failures: 1}},
		{name: "a lock that cannot be asked for is a failure", lock: []electtest.Step{{Err: down}}, polls: []read{no}, err: down, counted: stage.Count{NotAcquired: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, m := newGate(t, electtest.NewElector(c.lock...), c.polls...)
				if c.migrate != nil {
					g.migrate = c.migrate
				}
				got, err := g.pass(t.Context())
				if got != c.want {
					t.Errorf("outcome %q, want %q", got, c.want)
				}
				if (err == nil) != (c.err == nil) || err != nil && c.err != errors.ErrUnsupported && !errors.Is(err, c.err) {
					t.Errorf("error %v, want %v", err, c.err)
				}
				if diff := cmp.Diff(c.counted, g.tally.Counts()[lockName]); diff != "" {
					t.Errorf("counted (-want +got):\n%s", diff)
				}
				r := electtest.Read(m, lockName)
				if r[electtest.Of(catalog.Acquired)] != float64(c.counted.Runs) || r[electtest.Of(catalog.ExecutionFailures, "error")] != float64(c.counted.Failures) {
					t.Errorf("exported %v", r)
				}
			})
		})
	}
}

func TestAMigrationLongerThanItsBudgetIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, m := newGate(t, electtest.Wins(instrument.NewLease(nil)), read{}, read{}, read{done: true})
		g.migrate = func(context.Context) (bool, error) {
			time.Sleep(2 * budget)
			if remaining := electtest.Read(m, lockName)[electtest.Of(catalog.LeaseHeadroom)]; remaining != -budget.Seconds() {
				t.Errorf("%s is %v, want %v", catalog.LeaseHeadroom.Name(), remaining, -budget.Seconds())
			}
			return true, nil
		}
		if _, err := g.pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := electtest.Read(m, lockName)[electtest.Of(catalog.LeaseOverruns)]; got != 1 {
			t.Errorf("%s is %v, want 1", catalog.LeaseOverruns.Name(), got)
		}
	})
}

func TestAnInstanceThatIsToldToStopStopsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := newGate(t, electtest.Fails(instrument.ErrContended))
		g.applied = func(context.Context) (bool, error) { return false, nil }
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		if got, err := g.pass(ctx); got != none || !errors.Is(err, context.Canceled) {
			t.Errorf("outcome %q, error %v", got, err)
		}
	})
}

func TestACommandLineThatMakesNoSenseIsRefused(t *testing.T) {
	right := config{name: "a", postgres: "postgres://127.0.0.1", migration: "0001-cents", budget: budget}
	if err := right.check(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*config){
		"--instance a: an instance needs --postgres DSN":                                   func(c *config) { c.postgres = "" },
		"--migration 0003: unknown migration; valid migrations: 0001-cents, 0002-currency": func(c *config) { c.migration = "0003" },
		"--budget 0s: want more than 0":                                                    func(c *config) { c.budget = 0 },
		"--batch -1s: want 0 or more":                                                      func(c *config) { c.batch = -time.Second },
	} {
		c := right
		change(&c)
		if got := fmt.Sprint(c.check()); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if _, err := open("postgres://u:secret@127.0.0.1:port/d", "public"); fmt.Sprint(err) != "--postgres: not a DSN such as postgres://user@127.0.0.1:5432/database" {
		t.Errorf("a DSN that is none: %v", err)
	}
}
