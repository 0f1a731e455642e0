package riverlead_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
	"github.com/leaderscope/leaderscope/instrument/riverlead"
)

// watched is the view of a client that reads the row every so often.
func watched(every time.Duration, up, terms float64, vacant time.Duration) electtest.Series {
	return electtest.Series{
		`leader_identity_info{holder="me"}`:                        1,
		`leader_backend_up{backend="postgres"}`:                    up,
		`leader_backend_poll_interval_seconds{backend="postgres"}`: every.Seconds(),
		`leader_backend_terms_total{backend="postgres"}`:           terms,
		`leader_backend_vacant_seconds_total{backend="postgres"}`:  vacant.Seconds(),
	}
}

func names(holder string, end time.Duration) electtest.Series {
	return electtest.Series{
		`leader_backend_held{backend="postgres"}`:                                1,
		`leader_backend_holder_info{backend="postgres",holder="` + holder + `"}`: 1,
		`leader_backend_lease_duration_seconds{backend="postgres"}`:              15,
		`leader_backend_lease_expiry_timestamp_seconds{backend="postgres"}`:      float64(time.Now().Add(end).UnixNano()) / 1e9,
	}
}

var (
	free  = electtest.Series{`leader_backend_held{backend="postgres"}`: 0}
	ended = electtest.Series{`leader_backend_lease_duration_seconds{backend="postgres"}`: 15}
)

func TestEveryClientWitnessesTheRow(t *testing.T) {
	nothing := func(*table) {}
	for _, c := range []struct {
		name   string
		before func(x *table)
		// happens a second after the poll at 2 s; polls are every 2 s
		happens func(x *table)
		every   time.Duration
		read    time.Duration
		want    func() electtest.Series
	}{
		{"no client leads", nothing, nothing, 2 * s, 9 * s, func() electtest.Series { return watched(2*s, 1, 0, 9*s).With(free) }},
		{
			"another client leads", func(x *table) { x.elect("other") }, nothing, 2 * s, 9 * s,
			func() electtest.Series { return watched(2*s, 1, 0, 0).With(names("other", 6*s)) },
		},
		{
			"this client leads", func(x *table) { x.elect("me") }, nothing, 2 * s, 9 * s,
			func() electtest.Series { return watched(2*s, 1, 0, 0).With(names("me", 6*s)) },
		},
		{
			"another client leads and renews", func(x *table) { x.elect("other") }, (*table).renew, 2 * s, 9 * s,
			func() electtest.Series { return watched(2*s, 1, 0, 0).With(names("other", 9*s)) },
		},
		{
			"another client resigns", func(x *table) { x.elect("other") }, func(x *table) { x.elect("") }, 2 * s, 9 * s,
			func() electtest.Series { return watched(2*s, 1, 0, 5*s).With(free) },
		},
		{
			"another client dies, and no client takes over", func(x *table) { x.elect("other") }, nothing, 2 * s, 19 * s,
			func() electtest.Series { return watched(2*s, 1, 0, 4*s).With(free).With(ended).With(expiredAt(-4 * s)) },
		},
		{
			"this client hands over", func(x *table) { x.elect("me") }, func(x *table) { x.elect("other") }, 2 * s, 9 * s,
			func() electtest.Series { return watched(2*s, 1, 1, 0).With(names("other", 9*s)) },
		},
		{
			"a client is elected after a vacancy", nothing, func(x *table) { x.elect("other") }, 2 * s, 9 * s,
			func() electtest.Series { return watched(2*s, 1, 1, 4*s).With(names("other", 9*s)) },
		},
		{
			"polls that vary are no renewals of another client", func(x *table) { x.elect("other"); x.change(func(x *table) { x.scramble = 3 }) }, nothing, 2 * s, 9 * s,
			func() electtest.Series { return watched(2*s, 1, 0, 0).With(names("other", 6*s-ms)) },
		},
		{
			"polls fail", func(x *table) { x.elect("other") }, func(x *table) { x.change(func(x *table) { x.err = errNoTable }) }, 2 * s, 9 * s,
			func() electtest.Series { return watched(2*s, 0, 0, 0) },
		},
		{
			"polls are not answered", func(x *table) { x.elect("other") }, func(x *table) { x.change(func(x *table) { x.way = time.Hour }) }, 2 * s, 9 * s,
			func() electtest.Series { return watched(2*s, 0, 0, 0) },
		},
		{
			"a poll that is longer than the lease away", func(x *table) { x.elect("other") }, nothing, 20 * s, 19 * s,
			func() electtest.Series { return watched(20*s, 1, 0, 0).With(names("other", -4*s)) },
		},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			x, m := &table{}, expect.Middleware(t)
			c.before(x)
			ctx, stop := context.WithCancel(t.Context())
			e := m.Election(expect.Lock, instrument.Hold(), instrument.Backend("postgres"))
			if err := riverlead.Observe(ctx, e, x.client(t, "me", ""), riverlead.Interval(c.every)); err != nil {
				t.Fatal(err)
			}
			go func() { time.Sleep(3 * s); c.happens(x) }()
			time.Sleep(c.read)
			synctest.Wait()
			got := electtest.ReadBackend(m, expect.Lock).Without(`leader_backend_last_event_timestamp_seconds{backend="postgres"}`)
			if diff := cmp.Diff(c.want(), got); diff != "" {
				t.Errorf("after %s (-want +got):\n%s", c.read, diff)
			}
			stop()
			synctest.Wait()
			if after := electtest.ReadBackend(m, expect.Lock); len(after) != 2 { // the counters remain
				t.Errorf("after the end of the observation: %v", after)
			}
			time.Sleep(20 * s)
		})
	}
}

// A stop that ends a poll says nothing about the server.
func TestAPollThatAStopEndsIsNoFailureOfTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, m, stopped := &table{}, expect.Middleware(t), make(chan struct{})
		x.elect("other")
		e := m.Election(expect.Lock, instrument.Hold(), instrument.Backend("postgres"))
		if err := riverlead.ObserveUntil(t.Context(), e, x.client(t, "me", ""), stopped); err != nil {
			t.Fatal(err)
		}
		time.Sleep(s)
		x.change(func(x *table) { x.way = 2 * s })
		time.Sleep(1500 * ms) // within the poll at 2 s, which the stop ends
		close(stopped)
		time.Sleep(ms)
		synctest.Wait()
		if up := electtest.ReadBackend(m, expect.Lock)[`leader_backend_up{backend="postgres"}`]; up != 1 {
			t.Errorf("up %v during the last look", up)
		}
		time.Sleep(9 * s)
	})
}

func expiredAt(d time.Duration) electtest.Series {
	return electtest.Series{`leader_backend_lease_expiry_timestamp_seconds{backend="postgres"}`: float64(time.Now().Add(d).UnixNano()) / 1e9}
}
