package fleet

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/value"
)

// usual is a service of three replicas with a lease of 15 s. Its incidents are six
// times as frequent as under [Stress], in a shorter time: a simulated hour takes a
// second with the race detector.
func usual(change func(*World)) World {
	w := World{Seed: 7, Length: 14 * time.Hour, Replicas: 3, Lease: 15 * time.Second, Scrape: 30 * time.Second, Mix: Mix{}}
	for kind, perWeek := range Stress() {
		w.Mix[kind] = 6 * perWeek
	}
	if change != nil {
		change(&w)
	}
	return w
}

func run(t *testing.T, w World) *History {
	t.Helper()
	h, err := w.Run(nil)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestTheSameWorldHasTheSameHistory(t *testing.T) {
	told := func(w World) string {
		h := run(t, w)
		n := 0
		for _, s := range h.Series {
			n += len(s.samples)
		}
		return fmt.Sprintln(h.Terms, h.Incidents, h.Free, h.Overlaps, len(h.Series), n)
	}
	w := usual(nil)
	first := told(w)
	if diff := cmp.Diff(first, told(w)); diff != "" {
		t.Errorf("first -, second +\n%s", diff)
	}
	if w.Seed++; told(w) == first {
		t.Error("another seed has the same history")
	}
}

// The truth is noted by the world and the series come from the middleware:
// where a replica is scraped, both must say the same of it.
func TestAReplicaExportsThatItLeadsWhileItsTermIsOpen(t *testing.T) {
	for name, w := range map[string]World{
		"asking standbys":  usual(nil),
		"waiting standbys": usual(func(w *World) { w.Waiting = true }),
		"hidden renewals":  usual(func(w *World) { w.Hidden = true }),
		"a long lease":     usual(func(w *World) { w.Lease = 10 * time.Minute }),
		"a periodic job":   usual(func(w *World) { w.Every, w.Lease = 5*time.Minute, time.Minute }),
		"a pair":           usual(func(w *World) { w.Pair = true }),
	} {
		t.Run(name, func(t *testing.T) {
			h := run(t, w)
			led, checked := 0, 0
			for _, s := range h.Series {
				if s.labels.Get("__name__") != "leader_active" {
					continue
				}
				for _, x := range s.samples {
					if math.Float64bits(x.f) == value.StaleNaN {
						continue
					}
					at := time.Duration(x.t-Epoch.UnixMilli()) * time.Millisecond
					want := 0.0
					if h.leads(s.labels.Get("instance"), at) {
						want = 1
					}
					// Samples have milliseconds, terms have not.
					if x.f != want && h.leads(s.labels.Get("instance"), at+time.Millisecond) == (want == 1) {
						t.Fatalf("%s at %s exports %v, want %v", s.labels.Get("instance"), at, x.f, want)
					}
					checked++
					led += int(x.f)
				}
			}
			if led == 0 || checked < 1000 {
				t.Errorf("%d samples, %d of a leader", checked, led)
			}
		})
	}
}

func (h *History) leads(process string, at time.Duration) bool {
	return slices.ContainsFunc(h.Terms, func(t Term) bool { return t.Process == process && t.From <= at && at < t.To })
}

// What a kind of incident does, with a lease of 15 s and nothing else wrong.
func TestEachKindOfIncidentHasItsConsequence(t *testing.T) {
	type want struct {
		// free and overlap are whether an incident may, or must, leave the lock
		// free or held twice: "never", "always", or "if longer than" a length.
		free, overlap time.Duration
	}
	const never, always = time.Duration(math.MaxInt64), 0
	for kind, c := range map[Kind]want{
		Outage:        {time.Minute, never},
		OutageOfOne:   {never, never},
		SlowBackend:   {never, never},
		Crash:         {never, never},
		DeathKept:     {never, never},
		DeathDropped:  {never, never},
		StuckKept:     {time.Minute, never},
		StuckDropped:  {time.Minute, never},
		Rollout:       {never, never},
		Scale:         {never, never},
		Drain:         {never, never},
		Pause:         {never, never},
		Hang:          {never, never},
		SecondBackend: {never, always},
		LostKey:       {never, 10 * time.Second},
		LoseStandby:   {never, never},
		LoseLeader:    {never, never},
		Restart:       {never, never},
	} {
		t.Run(string(kind), func(t *testing.T) {
			h := run(t, usual(func(w *World) { w.Length, w.Scrape, w.Mix = 30*time.Hour, 10*time.Minute, Mix{kind: 200} }))
			if len(h.Incidents) < 10 {
				t.Fatalf("%d incidents", len(h.Incidents))
			}
			for _, i := range h.Incidents {
				for what, c := range map[string]struct {
					spans []Span
					from  time.Duration
				}{"free": {h.Free, c.free}, "held twice": {h.Overlaps, c.overlap}} {
					meets := slices.ContainsFunc(c.spans, func(s Span) bool { return s.Meets(Span{i.From, i.To + time.Minute}) })
					if meets && c.from == never || !meets && i.Length() > c.from {
						t.Errorf("%s for %s: %s %v", kind, i.Length(), what, meets)
					}
				}
			}
		})
	}
}

func TestTruthFollowsFromTheTerms(t *testing.T) {
	s := func(n int) time.Duration { return time.Duration(n) * time.Second }
	cases := map[string]struct {
		terms              []Term
		free, overlap, due []Span
	}{
		"one term to the end":         {terms: []Term{{"a", s(10), s(1000), s(1000)}}},
		"a handover":                  {terms: []Term{{"a", s(10), s(100), s(100)}, {"b", s(103), s(1000), s(1000)}}},
		"a gap":                       {terms: []Term{{"a", s(10), s(100), s(100)}, {"b", s(150), s(1000), s(1000)}}, free: []Span{{s(100), s(150)}}},
		"a gap that a lease explains": {terms: []Term{{"a", s(10), s(100), s(145)}, {"b", s(150), s(1000), s(1000)}}},
		"nobody at the end":           {terms: []Term{{"a", s(10), s(100), s(130)}}, free: []Span{{s(130), s(1000)}}, due: []Span{{s(410), s(1000)}}},
		"an overlap":                  {terms: []Term{{"a", s(10), s(100), s(100)}, {"b", s(95), s(1000), s(1000)}}, overlap: []Span{{s(95), s(100)}}},
		"one within another":          {terms: []Term{{"a", s(10), s(1000), s(1000)}, {"b", s(95), s(99), s(99)}}, overlap: []Span{{s(95), s(99)}}},
		"runs too far apart":          {terms: []Term{{"a", s(10), s(20), s(20)}, {"b", s(600), s(1000), s(1000)}}, free: []Span{{s(20), s(600)}}, due: []Span{{s(410), s(600)}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := &History{Terms: c.terms}
			got := [][]Span{h.free(s(1000)), h.overlaps()}
			if diff := cmp.Diff([][]Span{c.free, c.overlap}, got); diff != "" {
				t.Errorf("free and overlaps: want -, got +\n%s", diff)
			}
			if c.due != nil {
				if diff := cmp.Diff(c.due, h.overdue(s(400), s(1000))); diff != "" {
					t.Errorf("overdue: want -, got +\n%s", diff)
				}
			}
		})
	}
}

// What a collector repeats outlives its process by five minutes; what is
// scraped ends with the next scrape.
func TestTheLastWordsOfADeadLeader(t *testing.T) {
	for name, c := range map[string]struct {
		push bool
		to   time.Duration
	}{"scraped": {false, 40 * time.Second}, "pushed": {true, 6 * time.Minute}} {
		t.Run(name, func(t *testing.T) {
			h := run(t, usual(func(w *World) { w.Push, w.Mix = c.push, Mix{DeathDropped: 200} }))
			seen := 0
			for _, i := range h.Incidents {
				for _, term := range h.Terms {
					if term.To != i.From {
						continue
					}
					end := h.staleAfter(term.Process)
					if c.push {
						end = min(end, i.From+5*time.Minute) // its target may be dropped before
					}
					if d := end - i.From; d < 0 || d > c.to {
						t.Errorf("%s was heard for %s after it died", term.Process, d)
					}
					seen++
				}
			}
			if seen < 5 {
				t.Errorf("%d deaths", seen)
			}
		})
	}
}

// staleAfter is when the series of a process ended.
func (h *History) staleAfter(process string) (end time.Duration) {
	for _, s := range h.Series {
		if s.labels.Get("instance") == process && s.labels.Get("__name__") == "leader_active" {
			end = max(end, time.Duration(s.samples[len(s.samples)-1].t-Epoch.UnixMilli())*time.Millisecond)
		}
	}
	return end
}

// What standbys export of the record must be what became of it.
func TestWitnessesSeeWhetherTheRecordHasALiveHolder(t *testing.T) {
	for name, waiting := range map[string]bool{"asking standbys": false, "waiting standbys": true} {
		t.Run(name, func(t *testing.T) {
			w := World{
				Seed: 7, Length: 14 * time.Hour, Replicas: 3, Lease: 15 * time.Second, Scrape: 15 * time.Second,
				Witness: true, Waiting: waiting, Mix: Mix{StuckKept: 60, StuckDropped: 60},
			}
			h := run(t, w)
			// A standby learns of an end when it reads next, and believes a renewal
			// that it has read late for a whole lease.
			slack := w.Lease + 10*time.Second
			held, vacant := 0, 0
			for _, s := range h.Series {
				metric := s.labels.Get("__name__")
				if metric != "leader_backend_held" && metric != "leader_backend_holder_info" {
					continue
				}
				for _, x := range s.samples {
					if math.Float64bits(x.f) == value.StaleNaN {
						continue
					}
					at := time.Duration(x.t-Epoch.UnixMilli()) * time.Millisecond
					free := slices.IndexFunc(h.Free, func(f Span) bool { return f.From+slack < at && at < f.To })
					leads := slices.ContainsFunc(h.Terms, func(t Term) bool { return t.From+slack < at && at < t.To })
					names := slices.ContainsFunc(h.Terms, func(t Term) bool {
						return t.From < at && at < t.Until+slack && t.Process == s.labels.Get("holder")
					})
					switch {
					case metric == "leader_backend_holder_info":
						if !names {
							t.Fatalf("at %s %s names %s", at, s.labels.Get("instance"), s.labels.Get("holder"))
						}
					case free >= 0 && x.f != 0:
						t.Fatalf("at %s %s sees a holder of a lock that is free", at, s.labels.Get("instance"))
					case leads && x.f != 1:
						t.Fatalf("at %s %s sees no holder", at, s.labels.Get("instance"))
					case free >= 0:
						vacant++
					case leads:
						held++
					}
				}
			}
			if held < 1000 || vacant < 100 {
				t.Errorf("%d samples with a holder and %d without tell little", held, vacant)
			}
		})
	}
}
