package lock

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

func TestInstantsSaturateAndLeasesBeyondTheHorizonHaveNoEnd(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want Instant
	}{
		{"forth", Origin.Add(5), Origin + 5},
		{"back", Origin.Add(-5), Origin - 5},
		{"not at all", Instant(math.MaxInt64).Add(0), math.MaxInt64},
		{"to the last instant", Instant(math.MaxInt64 - 5).Add(5), math.MaxInt64},
		{"just beyond the last instant", Instant(math.MaxInt64).Add(1), math.MaxInt64},
		{"just beyond the first instant", Instant(math.MinInt64).Add(-1), math.MinInt64},
		{"beyond the last instant", Instant(math.MaxInt64 - 5).Add(6), math.MaxInt64},
		{"far beyond the last instant", Instant(math.MaxInt64).Add(math.MaxInt64), math.MaxInt64},
		{"to the first instant", Instant(math.MinInt64 + 5).Add(-5), math.MinInt64},
		{"beyond the first instant", Instant(math.MinInt64 + 5).Add(-6), math.MinInt64},
		{"a lease", EndOf(Origin, 5), Origin + 5},
		{"the longest lease", EndOf(Origin, Horizon), Origin.Add(Horizon)},
		{"a longer lease", EndOf(Origin, Horizon+1), 0},
		{"the shortest lease", EndOf(Origin, 1), Origin + 1},
		{"a lease without a length", EndOf(Origin, 0), 0},
		{"a lease of less than nothing", EndOf(Origin, -1), 0},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.name, c.got, c.want)
		}
	}
	if got := Origin.Sub(EndOf(Origin, Horizon)); got != -Horizon {
		t.Errorf("the longest lease is %v long", got)
	}
	if hundredYears := 876_000 * time.Hour; Horizon != hundredYears {
		t.Errorf("the horizon is %v away, want %v", Horizon, hundredYears)
	}
	if within := Origin.Add(-Horizon); within <= 0 {
		t.Errorf("an instant within the horizon is %d", within)
	}
}

func TestAFlightTakesOneAttemptAtAnyKnownInstant(t *testing.T) {
	var f Flight
	if f.Enter(0) || f.Enter(-1) || f.since() != 0 {
		t.Error("an attempt of an unknown instant has entered")
	}
	if !f.Enter(1) || f.Enter(2) || f.since() != 1 {
		t.Errorf("the attempt began at %d", f.since())
	}
	if f.leave(2) || !f.leave(1) || f.leave(1) || f.since() != 0 {
		t.Errorf("the attempt that began at %d is still there", f.since())
	}
}

func TestAnOutboxHandsOnWhatItTookInOrder(t *testing.T) {
	for n := range 8 {
		var b Outbox
		for i := range n {
			b.add(catalog.AcquireDuration, float64(i))
		}
		if b.Empty() != (n == 0) {
			t.Errorf("an outbox of %d is empty: %v", n, b.Empty())
		}
		taken := b.Take()
		if !b.Empty() || b.Len() != 0 {
			t.Errorf("%d of %d are left", b.Len(), n)
		}
		if taken.Len() != n {
			t.Errorf("%d taken, want %d", taken.Len(), n)
		}
		for i := range taken.Len() {
			if got := taken.At(i); got != (Observed{catalog.AcquireDuration, float64(i)}) {
				t.Errorf("observation %d of %d is %v", i, n, got)
			}
		}
	}
}

// What a term has is kept when its owner brings the room for it.
func TestATermTakesWhatItHasToItsOwnersRoom(t *testing.T) {
	var term Term
	*term.extra() = More{bodies: 1, renewing: 2, accrued: 3, decided: 4}
	room := More{Owner: &owner{}}
	term.Use(&room)
	if want := (More{Owner: room.Owner, bodies: 1, renewing: 2, accrued: 3, decided: 4}); *term.has() != want || term.has() != &room {
		t.Errorf("the term has %+v, want %+v", *term.has(), want)
	}
	var bare Term
	bare.Use(&More{Owner: room.Owner, bodies: 7})
	if bare.Owner() != room.Owner || bare.Bodies() != 7 {
		t.Errorf("a term that had nothing has %+v", *bare.has())
	}
	if (&Term{}).Owner() != nil || nothing != (More{}) {
		t.Error("a term without a room has something")
	}
}

func TestALabelSumsUpItsLocks(t *testing.T) {
	at := func(d time.Duration) Instant { return Origin.Add(d) }
	moment := func(d time.Duration) Moment { return Moment{Now: at(d), Wall: time.Unix(1000, 0).Add(d)} }
	lock := func(p Params, won, end time.Duration, token uint64) *State {
		s := &State{Params: &p}
		s.Flight.Enter(at(won - 2*time.Second))
		s.Win(&Term{}, nil, at(won-2*time.Second), &Won{Now: at(won), End: at(end), Token: token, Fenced: token != 0})
		s.Flight.Enter(at(won))
		return s
	}
	early := lock(Params{Lease: 20 * time.Second}, 10*time.Second, 25*time.Second, 7)
	late := lock(Params{Lease: 30 * time.Second}, 12*time.Second, 42*time.Second, 0)
	var bare State
	bare.Params = &Params{}
	want := Facts{
		Active: 2, Pending: 2, PendingAge: 10 * time.Second, Left: 5 * time.Second, LeftKnown: true, Expiry: 1025,
		LeaseSeen: true, Lease: 30 * time.Second, LastWon: 1012, Token: 7, Fenced: true,
	}
	want.Acquired, want.Acquire.Sum = 2, 4
	want.Acquire.counts[catalog.AcquireDuration.BucketOf(2)] = 2
	for name, locks := range map[string][]*State{
		"the earliest first": {early, late, &bare}, "the latest first": {late, early, &bare}, "none first": {&bare, late, early},
	} {
		var got Facts
		for _, s := range locks {
			s.AddTo(&got, moment(20*time.Second))
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Facts{}, Totals{}, Distribution{}, rare{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The wall clock may be set between two collections; what was reported stays.
func TestAnInstantKeepsTheUnixTimeOfItsFirstCollection(t *testing.T) {
	s := &State{Params: &Params{MaxLeaders: 2}}
	var terms [2]Term
	for i := range terms {
		s.Flight.Enter(Origin)
		s.Win(&terms[i], nil, Origin, &Won{Now: Origin.Add(time.Second)})
	}
	for i, wall := range []int64{1003, 5003} {
		s.Lost(&terms[i], Origin.Add(2*time.Second), Gone) // both at one instant
		var f Facts
		s.AddTo(&f, Moment{Now: Origin.Add(3 * time.Second), Wall: time.Unix(wall, 0)})
		if got, want := [2]float64{f.LastWon, f.LastEnded}, [2]float64{1001, 1002}; got != want {
			t.Errorf("at %d, won and ended at %v, want %v", wall, got, want)
		}
	}
}

func TestWhatHasNotHappenedHasNoTimeInAnyCentury(t *testing.T) {
	s := &State{Params: &Params{}}
	var f Facts
	s.AddTo(&f, Moment{Now: Origin, Wall: time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)})
	if f.LastWon != 0 || f.LastEnded != 0 || f.Expiry != 0 {
		t.Errorf("won at %v, ended at %v, expires at %v", f.LastWon, f.LastEnded, f.Expiry)
	}
}

func TestTotalsAddUpEachByItself(t *testing.T) {
	full := func(n uint64) *Totals {
		t := &Totals{Acquired: n, contended: 2 * n, released: 3 * n, returned: 4 * n}
		r := t.rareCounters()
		for _, counts := range [][]uint64{r.notAcquired[:], r.ended[:], r.releases[:], r.renewals[:], r.failures[:]} {
			for i := range counts {
				counts[i] = n * uint64(5+i)
			}
		}
		r.overruns, r.regressions, r.workAfterLoss = 13*n, 14*n, time.Duration(15*n)
		for i, d := range []*Distribution{&t.Acquire, &t.Execution, &t.Usage, &r.renewalDuration} {
			d.Sum, d.counts[i] = float64(16*n), uint32(17*n)
		}
		return t
	}
	exported := cmp.AllowUnexported(Totals{}, Distribution{}, rare{})
	for name, c := range map[string]struct{ a, b, want *Totals }{
		"both have rare ones": {full(1), full(2), full(3)},
		"one has none":        {full(2), &Totals{}, full(2)},
		"the first has none":  {&Totals{}, full(2), full(2)},
		"neither has any":     {&Totals{Acquired: 1}, &Totals{Acquired: 2}, &Totals{Acquired: 3}},
	} {
		c.a.Add(c.b)
		if diff := cmp.Diff(c.want, c.a, exported); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if none != (rare{}) {
		t.Error("the counters of locks that have none were counted up")
	}
}
