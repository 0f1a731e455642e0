package libraries

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/bsm/redislock"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	instrredsync "github.com/leaderscope/leaderscope/instrument/redsync"
	instrrueidis "github.com/leaderscope/leaderscope/instrument/rueidislock"
)

var of = electtest.Of

// election is a handle with a middleware of its own.
func election(t *testing.T, options ...instrument.ElectionOption) (*instrument.Election, func() electtest.Series) {
	t.Helper()
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	return m.Election("lock", options...), func() electtest.Series { return electtest.Read(m, "lock") }
}

func reason(r instrument.Reason) string { return of(catalog.NotAcquired, r.String()) }

func TestLockOfTheCallerItselfIsContendedNotAnError(t *testing.T) {
	address := redisInMemory(t)
	rueidis := rueidisLocker(t, address)
	for name, c := range map[string]struct {
		acquirer instrument.Acquirer
		classify instrument.Classifier
	}{
		"redislock":   {redislockTry(redislock.New(goRedis(t, address)), "a", ttl), redislockErrors},
		"redsync":     {instrredsync.NewTry(redsyncMutex(t, address, "b")), redsyncErrors},
		"rueidislock": {instrrueidis.New(rueidis.TryWithContext, "c"), rueidislockErrors},
	} {
		t.Run(name, func(t *testing.T) {
			e, series := election(t, instrument.Classify(c.classify))
			term, err := e.Acquire(t.Context(), c.acquirer)
			if err != nil {
				t.Fatal(err)
			}
			defer term.Release(context.WithoutCancel(t.Context()))
			if _, err := e.Acquire(t.Context(), c.acquirer); err == nil {
				t.Fatal("won twice")
			}
			if r := series(); r[reason(instrument.Contended)] != 1 {
				t.Errorf("%v", r)
			}
		})
	}
}

func TestServerThatIsAwayIsABackendErrorWhileTheCallerWaits(t *testing.T) {
	const nobody = "127.0.0.1:1"
	for name, c := range map[string]struct {
		acquirer instrument.Acquirer
		classify instrument.Classifier
	}{
		"redislock": {redislockTry(redislock.New(goRedis(t, nobody)), "a", ttl), redislockErrors},
		"redsync":   {instrredsync.NewTry(redsyncMutex(t, nobody, "b")), redsyncErrors},
	} {
		t.Run(name, func(t *testing.T) {
			e, series := election(t, instrument.Classify(c.classify))
			if _, err := e.Acquire(context.Background(), c.acquirer); err == nil {
				t.Fatal("won without a server")
			}
			if r := series(); r[reason(instrument.BackendError)] != 1 {
				t.Errorf("%v", r)
			}
		})
	}
}

func TestRedislockThatGivesUpByItselfHasAnUnknownReason(t *testing.T) {
	c := redislock.New(goRedis(t, redisInMemory(t)))
	if _, err := c.Obtain(t.Context(), "a", time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	e, series := election(t, instrument.Classify(redislockRetryErrors))
	_, err := e.Acquire(context.Background(), redislockWait(c, "a", 100*time.Millisecond)) // its own limit
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	if r := series(); r[reason(instrument.Unknown)] != 1 {
		t.Errorf("%v", r)
	}
}

// silentServer accepts connections and never answers.
func silentServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
		}
	}()
	return l.Addr().String()
}

func TestAServerThatDoesNotAnswerRedislockIsAFailedBackend(t *testing.T) {
	c := redislock.New(goRedis(t, silentServer(t)))
	e, series := election(t, instrument.Classify(redislockErrors))
	if _, err := e.Acquire(context.Background(), redislockTry(c, "a", 100*time.Millisecond)); err == nil {
		t.Fatal("won without a server")
	}
	if r := series(); r[reason(instrument.BackendError)] != 1 {
		t.Errorf("%v", r)
	}
}

func TestRedislockOfTheSameTokenIsATermEach(t *testing.T) {
	c := redislock.New(goRedis(t, redisInMemory(t)))
	same := instrument.AcquirerFunc(func(ctx context.Context) (instrument.Lease, error) {
		lock, err := c.Obtain(ctx, "a", ttl, &redislock.Options{Token: "one"})
		if err != nil {
			return nil, err
		}
		return lock, nil // a Lease as it is
	})
	e, series := election(t)
	for range 2 {
		if _, err := e.Acquire(t.Context(), same); err != nil {
			t.Fatal(err)
		}
	}
	if r := series(); r[of(catalog.Acquired)] != 2 || r[of(catalog.Active)] != 2 {
		t.Errorf("%v", r)
	}
}

func TestRedsyncEndIsGoneAfterTheUnlockAlthoughUntilIsNot(t *testing.T) {
	m := redsyncMutex(t, redisInMemory(t), "a")
	e, series := election(t)
	term, err := e.Acquire(t.Context(), instrredsync.New(m))
	if err != nil {
		t.Fatal(err)
	}
	before := m.Until()
	if err := term.Renew(t.Context()); err != nil || !m.Until().After(before) {
		t.Errorf("renewed until %v, before %v: %v", m.Until(), before, err)
	}
	if err := term.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, there := series()[of(catalog.LeaseHeadroom)]
	if there || !m.Until().After(time.Now()) {
		t.Errorf("headroom is there: %v; Until %v", there, time.Until(m.Until()))
	}
}

func TestExtendOfALockThatAnotherHasIsALoss(t *testing.T) {
	address := redisInMemory(t)
	redis := goRedis(t, address)
	for name, c := range map[string]struct {
		acquirer instrument.Acquirer
		classify instrument.Classifier
	}{
		"a": {redislockTry(redislock.New(redis), "a", ttl), redislockErrors},
		"b": {instrredsync.NewTry(redsyncMutex(t, address, "b")), redsyncErrors},
	} {
		e, series := election(t, instrument.Classify(c.classify))
		term, err := e.Acquire(t.Context(), c.acquirer)
		if err != nil {
			t.Fatal(err)
		}
		if err := redis.Set(t.Context(), name, "another", ttl).Err(); err != nil {
			t.Fatal(err)
		}
		if err := term.Renew(t.Context()); err == nil {
			t.Fatal("renewed")
		}
		_ = term.Release(t.Context())
		r := series()
		if r[of(catalog.Renewals, catalog.RenewalLost.String())] != 1 || r[of(catalog.TermsEnded, catalog.Lost.String())] != 1 ||
			r[of(catalog.Releases, catalog.ReleaseNotOwner.String())] != 1 {
			t.Errorf("%s: %v", name, r)
		}
	}
}

func TestRueidislockContextTellsOfAClosedLockerAsALoss(t *testing.T) {
	l := rueidisLocker(t, redisInMemory(t))
	e, series := election(t, instrument.HiddenRenewals())
	term, err := e.Acquire(t.Context(), instrrueidis.New(l.WithContext, "a"))
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	<-term.Context().Done()
	if r := series(); r[of(catalog.TermsEnded, catalog.Lost.String())] != 1 {
		t.Errorf("%v", r)
	}
}
