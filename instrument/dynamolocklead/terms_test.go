package dynamolocklead_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"cirello.io/dynamolock/v2"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/dynamolocklead"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

const s = time.Second

var errReset = &net.OpError{Op: "read", Err: errors.New("connection reset by peer")}

// acquired is what a lock shows that was won at once.
func acquired(t *testing.T) electtest.Series {
	return expect.Fresh(t).With(expect.Acquired(0)).With(expect.Length(lease))
}

// won is what it shows while its lease runs for that much longer.
func won(t *testing.T, timeLeft time.Duration) electtest.Series {
	return acquired(t).With(expect.Open(time.Now().Add(timeLeft)))
}

// ended is what it shows after a term of that length.
func ended(t *testing.T, cause string, length time.Duration) electtest.Series {
	return acquired(t).With(expect.Ended(cause, length))
}

// isNotOwner reports the answer to a release of a record that is not ours.
func isNotOwner(err error) bool {
	_, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	return ok
}

func isRefused(err error) bool {
	_, ok := errors.AsType[*dynamolock.LockNotGrantedError](err)
	return ok
}

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
			func(t *testing.T) electtest.Series {
				return won(t, lease-3*s).With(expect.RenewedByThirds(14, 0, "", 0))
			},
		},
		{
			"a release, and a second one that changes nothing",
			func(t *testing.T, x *table, term *instrument.Term) {
				time.Sleep(3 * s)
				for range 2 {
					if err := term.Release(t.Context()); err != nil {
						t.Error(err)
					}
				}
				if _, held := x.remaining(expect.Lock); held {
					t.Error("the record is still there")
				}
			},
			func(t *testing.T) electtest.Series {
				return ended(t, "released", 3*s).With(expect.Released("ok")).With(expect.Used(lease, lease/4))
			},
		},
		{
			"the holder's own heartbeat moves the end",
			func(t *testing.T, _ *table, term *instrument.Term) {
				time.Sleep(3 * s)
				if err := term.Renew(t.Context()); err != nil {
					t.Error(err)
				}
			},
			func(t *testing.T) electtest.Series {
				return won(t, lease).With(expect.RenewedByThirds(1, 0, "", 0)).With(expect.Used(lease, lease/4))
			},
		},
		{
			"the record is deleted while it is held: lost with the next heartbeat, and not released",
			func(t *testing.T, x *table, term *instrument.Term) {
				x.remove(expect.Lock)
				<-term.Context().Done()
				if err := term.Release(t.Context()); !isNotOwner(err) {
					t.Error(err)
				}
				if _, there := x.rows[expect.Lock]; there {
					t.Error("the record is there again")
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
				if err := term.Release(t.Context()); !isNotOwner(err) {
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
				return ended(t, "gave_up", lease/3+lease*9/10).With(expect.RenewedByThirds(1, 1, "timeout", lease*9/10-lease/3))
			},
		},
		{
			"heartbeats that fail are errors and no loss, and are sent again until it is too late",
			func(_ *testing.T, x *table, term *instrument.Term) {
				x.fail(errReset)
				<-term.Context().Done()
			},
			func(t *testing.T) electtest.Series {
				return ended(t, "gave_up", lease*9/10).With(expect.RenewedByThirds(0, 4, "error", 0))
			},
		},
		{
			"a heartbeat that works after one that failed",
			func(_ *testing.T, x *table, _ *instrument.Term) {
				x.fail(errReset)
				time.Sleep(lease * 5 / 12)
				x.fail(nil)
				time.Sleep(lease / 3)
			},
			func(t *testing.T) electtest.Series {
				return won(t, lease*3/4).With(expect.RenewedByThirds(1, 1, "error", 0)).With(expect.Used(lease, lease/2)).
					With(electtest.Series{"leader_renewal_duration_seconds_count": 2})
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
			"a heartbeat is written and its answer is lost: the library looks, and knows its record",
			func(_ *testing.T, x *table, _ *instrument.Term) {
				x.change(func(x *table) { x.lost = 1 })
				time.Sleep(2*lease + s)
			},
			func(t *testing.T) electtest.Series { return won(t, lease-s).With(expect.RenewedByThirds(6, 0, "", 0)) },
		},
		{
			"a heartbeat whose caller gives up is no loss, and its late answer counts",
			func(t *testing.T, x *table, term *instrument.Term) {
				time.Sleep(3 * s)
				speak := x.mute()
				short, cancel := context.WithTimeout(t.Context(), s/2)
				defer cancel()
				if err := term.Renew(short); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("renewal: %v", err)
				}
				speak()
				time.Sleep(lease)
			},
			func(t *testing.T) electtest.Series {
				return won(t, lease-7*s/2).With(expect.RenewedByThirds(3, 1, "timeout", s/2))
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
		time.Sleep(3*lease + s)
		if _, held := x.remaining(expect.Lock); !held {
			t.Error("the lock ran out when its series were forgotten")
		}
		x.checkLimits(t, 9)
		if err := term.Release(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
}

func TestNoHeartbeatIsSentOnceTheRecordIsGone(t *testing.T) {
	for name, loses := range map[string]func(*table, string){"deleted": (*table).remove, "taken by another": (*table).steal} {
		expect.Bubble(t, name, func(t *testing.T) {
			x, m := newTable(), expect.Middleware(t)
			term, err := m.Election(expect.Lock).Acquire(t.Context(), x.lock(t, expect.Lock))
			if err != nil {
				t.Fatal(err)
			}
			loses(x, expect.Lock)
			<-term.Context().Done()
			x.change(func(x *table) { x.sent = 0 })
			time.Sleep(lease)
			x.change(func(x *table) {
				if x.sent != 0 {
					t.Errorf("%d requests after the term's end", x.sent)
				}
			})
			_ = term.Release(t.Context())
		})
	}
}

func TestAClientThatIsClosedEndsTheTermWithTheNextHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, m := newTable(), expect.Middleware(t)
		client := x.client(t)
		term, err := m.Election(expect.Lock).Acquire(t.Context(), dynamolocklead.NewLock(client, expect.Lock, lease))
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Close(); err != nil {
			t.Fatal(err)
		}
		<-term.Context().Done()
		if err := term.Release(t.Context()); !errors.Is(err, dynamolock.ErrClientClosed) {
			t.Error(err)
		}
		expect.Whole(t, m, "afterwards", ended(t, "canceled", lease/3).With(expect.RenewedByThirds(0, 1, "canceled", 0)).With(expect.Released("not_owner")))
	})
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

func TestAHeartbeatIsSentTwiceAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTable()
		l, err := x.lock(t, expect.Lock).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		x.fail(errReset)
		x.change(func(x *table) { x.sent = 0 })
		if err := l.(instrument.Renewer).Renew(t.Context()); !errors.Is(err, errReset) {
			t.Errorf("renew: %v", err)
		}
		x.change(func(x *table) {
			if x.sent != 2 {
				t.Errorf("%d requests", x.sent)
			}
		})
		x.fail(nil)
		if err := l.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
