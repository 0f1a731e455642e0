package instrument_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// Stand-ins for the libraries' own errors; the shapes are theirs.
var (
	errHeld    = errors.New("lib: held")
	errGone    = errors.New("lib: not held")
	errOwn     = errors.New("lib: already held by this session")
	errExpired = errors.New("lib: session expired")
)

type errTaken struct{ nodes []int }

func (e *errTaken) Error() string { return fmt.Sprint("taken on ", e.nodes) }

type errNode struct{ err error }

func (e *errNode) Error() string { return e.err.Error() }

type errSQL struct{ code string }

func (e *errSQL) Error() string    { return "ERROR " + e.code }
func (e *errSQL) SQLState() string { return e.code }

func TestAttemptsAreClassifiedByLibraryThenContextThenBackend(t *testing.T) {
	wrap := func(err error) error { return fmt.Errorf("acquire: %w", err) }
	taken, down := &errTaken{nodes: []int{0}}, &errNode{errBackend}
	redsync := instrument.Redsync[*errTaken, *errNode](errGone)
	redislock := instrument.Redislock(errHeld, errGone)
	never := func(error) bool { return false }
	const alive, canceled, late = "alive", "canceled", "late"
	cases := []struct {
		name     string
		classify instrument.Classifier
		err      error
		ctx      string
		want     string
	}{
		{"contention", redislock, wrap(errHeld), alive, "contended"},
		{"contention is believed ahead of the context", redislock, wrap(errHeld), canceled, "contended"},
		{"the backend failed", redislock, wrap(errBackend), alive, "backend_error"},
		{"a cancelled caller, whatever the library says", redislock, wrap(errBackend), canceled, "canceled"},
		{"a caller whose deadline passed", redislock, wrap(errBackend), late, "timeout"},
		{"redislock's own deadline is contention", redislock, context.DeadlineExceeded, alive, "contended"},
		{"the caller's deadline is not", redislock, context.DeadlineExceeded, late, "timeout"},
		{"redsync: taken", redsync, wrap(taken), alive, "contended"},
		{"redsync: one taken, two down", redsync, errors.Join(taken, down, down), alive, "backend_error"},
		{"redsync: the error hides a cancelled context", redsync, wrap(down), canceled, "canceled"},
		{"rueidislock: not locked", instrument.Rueidislock(errHeld), wrap(errHeld), alive, "contended"},
		{"rueidislock: its own short timeout", instrument.Rueidislock(errHeld), context.DeadlineExceeded, alive, "backend_error"},
		{"etcd: locked", instrument.EtcdMutex(errHeld, errExpired, errGone), errHeld, alive, "contended"},
		{"etcd: session expired", instrument.EtcdMutex(errHeld, errExpired, errGone), wrap(errExpired), canceled, "session_lost"},
		{"consul: held by this lock", instrument.Consul(errOwn, errGone), errOwn, alive, "already_held"},
		{"consul: but the caller gave up", instrument.Consul(errOwn, errGone), errOwn, canceled, "canceled"},
		{"zookeeper: deadlock with oneself", instrument.ZooKeeper(errOwn, errGone, errExpired), errOwn, alive, "already_held"},
		{"zookeeper: session expired", instrument.ZooKeeper(errOwn, errGone, errExpired), errExpired, alive, "session_lost"},
		{"dynamolock: not granted", instrument.Dynamolock[*errTaken](errGone), taken, alive, "contended"},
		{"dynamolock: not granted to a caller who left", instrument.Dynamolock[*errTaken](errGone), taken, late, "timeout"},
		{"pglock: not acquired", instrument.Pglock(errHeld, errGone), wrap(errHeld), alive, "contended"},
		{"pglock: says the same of a cancelled caller", instrument.Pglock(errHeld, errGone), wrap(errHeld), canceled, "canceled"},
		{"nats: the key exists", instrument.NATSKeyValue(errHeld, nil), errHeld, alive, "contended"},
		{"nats: another revision", instrument.NATSKeyValue(errHeld, func(err error) bool { return err == errGone }), errGone, alive, "session_lost"},
		{"kubernetes: conflict", instrument.Kubernetes(func(err error) bool { return err == errHeld }, never), errHeld, alive, "contended"},
		{"bluetape: already leader", instrument.BluetapeGo(errOwn, errHeld), errOwn, alive, "already_held"},
		{"mongo: already locked", instrument.MongoLock(errHeld, errGone), errHeld, alive, "contended"},
		{"postgres: lock timeout", instrument.SQLState(), wrap(&errSQL{"55P03"}), alive, "contended"},
		{"postgres: query cancelled", instrument.SQLState(), &errSQL{"57014"}, canceled, "canceled"},
		{"postgres: connection failure", instrument.SQLState(), &errSQL{"08006"}, alive, "backend_error"},
		{"a sentinel needs no classifier", nil, wrap(instrument.ErrAlreadyHeld), alive, "already_held"},
		{"a word outside of the closed set is no opinion", func(error) (instrument.Reason, bool) { return 77, true }, errBackend, alive, "backend_error"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := newMiddleware(t)
			e := m.Election("x", instrument.Classify(c.classify))
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			switch c.ctx {
			case canceled:
				cancel()
			case late:
				ctx, cancel = context.WithDeadline(ctx, time.Unix(0, 0))
				defer cancel()
			}
			if _, err := e.Acquire(ctx, electtest.Fails(c.err)); err != c.err {
				t.Errorf("the error came back as %v", err)
			}
			check(t, m, c.name, zero.With(electtest.Series{
				"leader_attempts_total": 1, `leader_not_acquired_total{reason="` + c.want + `"}`: 1,
				"leader_acquire_duration_seconds_count": 1,
				"leader_acquire_duration_seconds_sum":   electtest.Read(m, "x")["leader_acquire_duration_seconds_sum"],
			}))
		})
	}
}

// classifying is an acquirer that knows its own errors.
type classifying struct{ *electtest.Elector }

func (classifying) Classify(err error) (instrument.Reason, bool) {
	return instrument.Contended, errors.Is(err, errHeld)
}

func TestAnAcquirerMayClassifyItsOwnErrors(t *testing.T) {
	m := newMiddleware(t)
	_, _ = m.Election("x").Acquire(context.Background(), classifying{electtest.Fails(errHeld)})
	if r := electtest.Read(m, "x"); r[`leader_not_acquired_total{reason="contended"}`] != 1 {
		t.Errorf("series %v", r)
	}
}

func TestAnOptimisticUpdateAndItsSlowPathAreOneRenewal(t *testing.T) {
	bubble(t, "tried and renewed, tried and failed, tried and lost", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.LeaseDuration(15*s))
		acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.WatchWith(func(_ context.Context, k instrument.Sink) {
			tentative := instrument.NewTentative(k)
			tentative.Tried(errHeld)
			tentative.Renewed(time.Now().Add(15 * s))
			tentative.Tried(errHeld)
			tentative.RenewalFailed(errBackend)
			tentative.Tried(errBackend)
			tentative.Lost(nil)
		}))))
		time.Sleep(s)
		check(t, m, "after", leased(15*s).With(electtest.Series{
			"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_acquire_duration_seconds_count": 1,
			`leader_renewals_total{result="ok"}`: 1, `leader_renewals_total{result="error"}`: 2,
			"leader_lease_usage_ratio_count":         1,
			`leader_terms_ended_total{cause="lost"}`: 1, "leader_execution_duration_seconds_count": 1,
		}))
	})
}
