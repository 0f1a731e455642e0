package pglocklead_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"cirello.io/pglock"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

const s = time.Second

// acquired is what a lock shows that was won at once.
func acquired(t *testing.T) electtest.Series {
	return expect.Fresh(t).With(expect.Acquired(0)).With(expect.Length(lease)).With(electtest.Series{
		"leader_fencing_token": 2, "leader_fencing_token_regressions_total": 0,
	})
}

// won is what it shows while its lease runs for that much longer.
func won(t *testing.T, timeLeft time.Duration) electtest.Series {
	return acquired(t).With(expect.Open(time.Now().Add(timeLeft)))
}

// ended is what it shows after a term of that length.
func ended(t *testing.T, cause string, length time.Duration) electtest.Series {
	return acquired(t).With(expect.Ended(cause, length))
}

var errReset = &net.OpError{Op: "read", Err: errors.New("connection reset by peer")}

func TestTerms(t *testing.T) {
	for _, c := range []struct {
		name string
		// happens after the lock was won; it may advance the clock.
		happens func(t *testing.T, x *table, term *instrument.Term)
		want    func(t *testing.T) electtest.Series
	}{
		{
			"heartbeats keep it for as long as it is held",
			func(*testing.T, *table, *instrument.Term) { time.Sleep(5*lease - s) },
			func(t *testing.T) electtest.Series { return won(t, 5*s).With(expect.RenewedByThirds(14, 0, "", 0)) },
		},
		{
			"a release, and a second one that changes nothing",
			func(t *testing.T, x *table, term *instrument.Term) {
				time.Sleep(s)
				if err := term.Release(t.Context()); err != nil {
					t.Error(err)
				}
				if err := term.Release(t.Context()); !errors.Is(err, pglock.ErrLockAlreadyReleased) {
					t.Errorf("second release: %v", err)
				}
				if _, held := x.remaining(expect.Lock); held {
					t.Error("the record is still there")
				}
			},
			func(t *testing.T) electtest.Series {
				return ended(t, "released", s).With(expect.Released("ok")).With(expect.Used(lease, s))
			},
		},
		{
			"the holder's own heartbeat moves the end",
			func(t *testing.T, _ *table, term *instrument.Term) {
				time.Sleep(s)
				if err := term.Renew(t.Context()); err != nil {
					t.Error(err)
				}
			},
			func(t *testing.T) electtest.Series {
				return won(t, lease).With(expect.Renewals("ok", 1, 0)).With(expect.Used(lease, s))
			},
		},
		{
			"the record is deleted while it is held: lost with the next heartbeat, and not released",
			func(t *testing.T, x *table, term *instrument.Term) {
				x.remove(expect.Lock)
				<-term.Context().Done()
				if err := term.Release(t.Context()); !errors.Is(err, pglock.ErrLockAlreadyReleased) {
					t.Error(err)
				}
			},
			func(t *testing.T) electtest.Series {
				return ended(t, "lost", lease/3).With(expect.RenewedByThirds(0, 1, "lost", 0)).With(expect.Released("not_owner"))
			},
		},
		{
			"another client takes the record while it is held, and keeps it",
			func(t *testing.T, x *table, term *instrument.Term) {
				x.steal(expect.Lock)
				<-term.Context().Done()
				if err := term.Release(t.Context()); !errors.Is(err, pglock.ErrLockAlreadyReleased) {
					t.Error(err)
				}
				if _, held := x.remaining(expect.Lock); !held {
					t.Error("the other client's record is gone")
				}
			},
			func(t *testing.T) electtest.Series {
				return ended(t, "lost", lease/3).With(expect.RenewedByThirds(0, 1, "lost", 0)).With(expect.Released("not_owner"))
			},
		},
		{
			"a server that is silent from a heartbeat on: given up a tenth of the lease before its end",
			func(_ *testing.T, x *table, term *instrument.Term) {
				time.Sleep(lease / 2) // after one heartbeat
				speak := x.mute()
				<-term.Context().Done()
				speak()
			},
			func(t *testing.T) electtest.Series {
				return ended(t, "gave_up", lease/3+lease*9/10).With(expect.RenewedByThirds(1, 2, "timeout", lease*9/10-lease/3))
			},
		},
		{
			"the program closes its pool: stopped with the next heartbeat",
			func(t *testing.T, x *table, term *instrument.Term) {
				x.close()
				<-term.Context().Done()
			},
			func(t *testing.T) electtest.Series {
				return ended(t, "canceled", lease/3).With(expect.RenewedByThirds(0, 1, "error", 0))
			},
		},
		{
			"heartbeats that cannot be sent are errors and no loss, and are tried again until it is too late",
			func(_ *testing.T, x *table, term *instrument.Term) {
				x.fail(errReset)
				<-term.Context().Done()
			},
			func(t *testing.T) electtest.Series {
				return ended(t, "gave_up", lease*9/10).With(expect.RenewedByThirds(0, 4, "error", 0))
			},
		},
		{
			"a heartbeat that works after one that could not be sent",
			func(_ *testing.T, x *table, _ *instrument.Term) {
				x.fail(errReset)
				time.Sleep(lease * 5 / 12)
				x.fail(nil)
				time.Sleep(lease / 3)
			},
			func(t *testing.T) electtest.Series {
				return won(t, lease*3/4).With(expect.RenewedByThirds(1, 1, "error", 0)).With(electtest.Series{"leader_lease_usage_ratio_sum": 0.5})
			},
		},
		{
			"the holder's own heartbeat, when heartbeats have failed until it is almost too late, keeps the lock",
			func(t *testing.T, x *table, term *instrument.Term) {
				x.fail(errReset)
				time.Sleep(lease * 7 / 8)
				x.fail(nil)
				if err := term.Renew(t.Context()); err != nil {
					t.Error(err)
				}
				time.Sleep(lease / 8) // a heartbeat, since a tenth of the lease would have been left
			},
			func(t *testing.T) electtest.Series {
				return won(t, lease*9/10).With(expect.RenewedByThirds(2, 4, "error", 0)).With(electtest.Series{"leader_lease_usage_ratio_sum": 0.9})
			},
		},
		{
			"a heartbeat that was sent and fails is an error and no loss, and the library gives the lock up",
			func(_ *testing.T, x *table, term *instrument.Term) {
				x.change(func(x *table) { x.refused = errReset })
				<-term.Context().Done()
			},
			func(t *testing.T) electtest.Series {
				return ended(t, "gave_up", lease/3).With(expect.RenewedByThirds(0, 1, "error", 0))
			},
		},
		{
			"the holder's own heartbeat fails, and the lock is given up when the next is due",
			func(t *testing.T, x *table, term *instrument.Term) {
				time.Sleep(s)
				x.change(func(x *table) { x.refused = errReset })
				if err := term.Renew(t.Context()); !errors.Is(err, errReset) {
					t.Errorf("renewal: %v", err)
				}
				<-term.Context().Done()
			},
			func(t *testing.T) electtest.Series {
				return ended(t, "gave_up", lease/3).With(expect.RenewedByThirds(0, 1, "error", 0))
			},
		},
		{
			"a heartbeat whose caller gives up is no loss, and its late answer counts",
			func(t *testing.T, x *table, term *instrument.Term) {
				time.Sleep(s)
				speak := x.mute()
				short, cancel := context.WithTimeout(t.Context(), s/2)
				defer cancel()
				if err := term.Renew(short); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("renewal: %v", err)
				}
				speak()
				time.Sleep(lease) // a heartbeat after a third of the lease, and one after two thirds
			},
			func(t *testing.T) electtest.Series {
				return won(t, lease-3*s/2).With(expect.RenewedByThirds(3, 1, "timeout", s/2))
			},
		},
		{
			"connections that broke since they were used last, at the release",
			func(t *testing.T, x *table, term *instrument.Term) {
				time.Sleep(s)
				x.change(func(x *table) { x.broken = 2 })
				if err := term.Release(t.Context()); err != nil {
					t.Error(err)
				}
				if _, held := x.remaining(expect.Lock); held {
					t.Error("the record is still there")
				}
			},
			func(t *testing.T) electtest.Series {
				return ended(t, "released", s).With(expect.Released("ok")).With(expect.Used(lease, s))
			},
		},
		{
			"a server that is away at the release",
			func(t *testing.T, x *table, term *instrument.Term) {
				time.Sleep(s)
				x.fail(errReset)
				if err := term.Release(t.Context()); !errors.Is(err, errReset) {
					t.Errorf("release: %v", err)
				}
			},
			func(t *testing.T) electtest.Series {
				return ended(t, "release_failed", s).With(expect.Released("error")).With(expect.Used(lease, s))
			},
		},
		{
			"a server that is silent at the release",
			func(t *testing.T, x *table, term *instrument.Term) {
				speak := x.mute()
				defer speak()
				short, cancel := context.WithTimeout(t.Context(), s)
				defer cancel()
				if err := term.Release(short); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("release: %v", err)
				}
			},
			func(t *testing.T) electtest.Series {
				return ended(t, "release_failed", 0).With(expect.Released("error")).With(expect.Used(lease, 0))
			},
		},
		{
			"a server that is silent at a heartbeat and at the release",
			func(t *testing.T, x *table, term *instrument.Term) {
				speak := x.mute()
				defer speak()
				time.Sleep(lease / 2)
				short, cancel := context.WithTimeout(t.Context(), s)
				defer cancel()
				if err := term.Release(short); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("release: %v", err)
				}
			},
			func(t *testing.T) electtest.Series {
				return ended(t, "release_failed", lease/2).With(expect.Released("error")).With(expect.Used(lease, lease/2))
			},
		},
		{
			"the lock is forgotten, and kept all the same",
			func(t *testing.T, x *table, term *instrument.Term) {
				time.Sleep(3 * lease)
				if _, held := x.remaining(expect.Lock); !held {
					t.Error("no replica holds the lock")
				}
			},
			func(t *testing.T) electtest.Series { return won(t, lease).With(expect.RenewedByThirds(9, 0, "", 0)) },
		},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			x, m := newTable(), expect.Middleware(t)
			term, err := m.Election(expect.Lock).Acquire(t.Context(), x.lock(t, expect.Lock))
			if err != nil {
				t.Fatal(err)
			}
			c.happens(t, x, term)
			synctest.Wait()
			expect.Whole(t, m, "afterwards", c.want(t))
			_ = term.Release(context.WithoutCancel(t.Context()))
			time.Sleep(2 * lease) // for what still runs
		})
	}
}

func TestHeartbeatsDoNotDependOnTelemetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, m := newTable(), expect.Middleware(t)
		term, err := m.Election(expect.Lock).Acquire(t.Context(), x.lock(t, expect.Lock))
		if err != nil {
			t.Fatal(err)
		}
		m.Election(expect.Lock).Forget()
		time.Sleep(3 * lease)
		if _, held := x.remaining(expect.Lock); !held {
			t.Error("the lock ran out when its series were forgotten")
		}
		if err := term.Release(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
}

// The holder of a lease may look at it before a term begins.
func TestALockThatWasTakenBeforeItsTermBeginsIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, m := newTable(), expect.Middleware(t)
		l, err := x.lock(t, expect.Lock).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		x.steal(expect.Lock)
		time.Sleep(lease/3 + s)
		term, err := m.Election(expect.Lock).Acquire(t.Context(), electtest.Wins(l))
		if err != nil {
			t.Fatal(err)
		}
		<-term.Context().Done()
		expect.Whole(t, m, "after the loss", ended(t, "lost", 0))
		if cause := context.Cause(term.Context()); !errors.Is(cause, pglock.ErrLockAlreadyReleased) || !errors.Is(cause, instrument.ErrLost) {
			t.Errorf("the term's context ended with %v", cause)
		}
		if err := term.Release(t.Context()); !errors.Is(err, pglock.ErrLockAlreadyReleased) {
			t.Errorf("release: %v", err)
		}
	})
}

func TestRequestsOfARelease(t *testing.T) {
	for _, c := range []struct {
		name    string
		happens func(x *table)
		sent    int
		err     error
	}{
		{"one is enough", func(*table) {}, 1, nil},
		{"a lock that is another's", func(x *table) { x.steal(expect.Lock) }, 1, pglock.ErrLockAlreadyReleased},
		{"a connection that broke: a look, and again", func(x *table) { x.change(func(x *table) { x.broken = 1 }) }, 3, nil},
		{"two connections that broke: two looks, and again", func(x *table) { x.change(func(x *table) { x.broken = 2 }) }, 4, nil},
		{"an answer that was lost: the lock is gone, perhaps by the first request", func(x *table) { x.change(func(x *table) { x.lost = 1 }) }, 3, errReset},
		{"a server that refuses releases: a look, and the second refusal", func(x *table) { x.change(func(x *table) { x.kept = errReset }) }, 1, errReset},
		{"a server that is away: two looks", func(x *table) { x.fail(errReset) }, 3, errReset},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			x := newTable()
			l, err := x.lock(t, expect.Lock).Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			c.happens(x)
			x.change(func(x *table) { x.sent = 0 })
			if err := l.Release(t.Context()); !errors.Is(err, c.err) || c.err == nil && err != nil {
				t.Errorf("release: %v", err)
			}
			x.change(func(x *table) {
				if x.sent != c.sent {
					t.Errorf("%d requests, want %d", x.sent, c.sent)
				}
			})
			time.Sleep(2 * lease)
		})
	}
}

func TestANilContextHasNoEnd(t *testing.T) {
	for name, lock := range map[string]func(*table, testing.TB, string) instrument.Acquirer{"waiting": (*table).lock, "at once": (*table).tryLock} {
		expect.Bubble(t, name, func(t *testing.T) {
			x := newTable()
			var none context.Context
			term, err := expect.Middleware(t).Election(expect.Lock).Acquire(none, lock(x, t, expect.Lock))
			if err != nil {
				t.Fatal(err)
			}
			if err := term.Renew(none); err != nil {
				t.Error(err)
			}
			if err := term.Release(none); err != nil {
				t.Error(err)
			}
			if _, held := x.remaining(expect.Lock); held {
				t.Error("the lock is still held")
			}
		})
	}
}
