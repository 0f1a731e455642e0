package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/test/soak/history"
	"github.com/leaderscope/leaderscope/test/soak/timeline"
)

const s = time.Second

var began = time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC)

func span(from, to time.Duration) timeline.Span { return timeline.Span{From: from, To: to} }

// journalOf is a log with an event at each of these times.
func journalOf(events ...any) (all []event) {
	for i := 0; i < len(events); i += 2 {
		all = append(all, event{At: began.Add(events[i].(time.Duration)), What: events[i+1].(string)})
	}
	return all
}

func TestALogTellsTenuresAndWork(t *testing.T) {
	for name, c := range map[string]struct {
		events []event
		lasted time.Duration
		want   story
	}{
		"nothing": {nil, s, story{}},
		"a term that was lost": {
			journalOf(0*s, eventRun, 2*s, eventBegun, 5*s, eventEnded, 6*s, eventReturned, 7*s, eventRun), 9 * s,
			story{tenures: []timeline.Span{span(2*s, 5*s)}, work: []timeline.Span{span(2*s, 5*s)}, asked: []time.Duration{0}},
		},
		"two terms": {
			journalOf(0*s, eventRun, 2*s, eventBegun, 5*s, eventEnded, 6*s, eventReturned, 7*s, eventRun, 8*s, eventBegun, 9*s, eventEnded), 9 * s,
			story{tenures: []timeline.Span{span(2*s, 5*s), span(8*s, 9*s)}, work: []timeline.Span{span(2*s, 5*s), span(8*s, 9*s)}, asked: []time.Duration{0, 7 * s}},
		},
		"an attempt that failed in between": {
			journalOf(0*s, eventRun, 1*s, eventReturned, 2*s, eventRun, 3*s, eventBegun, 4*s, eventEnded), 9 * s,
			story{tenures: []timeline.Span{span(3*s, 4*s)}, work: []timeline.Span{span(3*s, 4*s)}, asked: []time.Duration{2 * s}},
		},
		"killed in its term": {
			journalOf(0*s, eventRun, 2*s, eventBegun), 5 * s,
			story{tenures: []timeline.Span{span(2*s, 5*s)}, work: []timeline.Span{span(2*s, 5*s)}, asked: []time.Duration{0}},
		},
		"killed before it could be read": {
			journalOf(0*s, eventRun, 2*s, eventBegun), 0,
			story{tenures: []timeline.Span{span(2*s, 2*s)}, work: []timeline.Span{span(2*s, 2*s)}, asked: []time.Duration{0}},
		},
		"asked to stop in its term": {
			journalOf(0*s, eventRun, 2*s, eventBegun, 4*s, eventStop, 5*s, eventEnded), 9 * s,
			story{tenures: []timeline.Span{span(2*s, 4*s)}, work: []timeline.Span{span(2*s, 5*s)}, asked: []time.Duration{0}},
		},
		"work that still stops when the next begins": {
			journalOf(2*s, eventBegun, 5*s, eventBegun, 6*s, eventEnded, 8*s, eventEnded), 9 * s,
			story{tenures: []timeline.Span{span(2*s, 6*s), span(5*s, 8*s)}, work: []timeline.Span{span(2*s, 6*s), span(5*s, 8*s)}, asked: []time.Duration{0, 0}},
		},
		"callbacks ask again when they have returned, before the work has ended": {
			journalOf(2*s, eventBegun, 4*s, eventReturned, 5*s, eventEnded, 8*s, eventBegun), 9 * s,
			story{tenures: []timeline.Span{span(2*s, 5*s), span(8*s, 9*s)}, work: []timeline.Span{span(2*s, 5*s), span(8*s, 9*s)}, asked: []time.Duration{0, 4 * s}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, tell(c.events, began, c.lasted), cmp.AllowUnexported(story{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestATermIsFreedWhenItsRecordGoes(t *testing.T) {
	won := story{work: []timeline.Span{span(2*s, 6*s)}, asked: []time.Duration{s}}
	take := history.Operation{Kind: history.Take, Term: "a term 1", Call: s, Return: 2 * s}
	unseen := []history.Operation{take, {Kind: history.Free, Term: "a term 1", Call: s, Return: 20 * s}}
	for name, c := range map[string]struct {
		terms []timeline.Term
		want  []history.Operation
	}{
		"its record": {
			[]timeline.Term{{Holder: "a", Since: span(1500*time.Millisecond, 1600*time.Millisecond), Until: span(5*s, 6*s)}},
			[]history.Operation{take, {Kind: history.Free, Term: "a term 1", Call: 5 * s, Return: 6 * s}},
		},
		"a record that is still there": {
			[]timeline.Term{{Holder: "a", Since: span(1500*time.Millisecond, 1600*time.Millisecond)}}, []history.Operation{take},
		},
		"another's record": {
			[]timeline.Term{{Holder: "b", Since: span(1500*time.Millisecond, 1600*time.Millisecond), Until: span(5*s, 6*s)}}, unseen,
		},
		"the record of the term before": {
			[]timeline.Term{{Holder: "a", Since: span(0, s/2), Until: span(s/2, s)}}, unseen,
		},
		"a record that it had before it asked": {
			[]timeline.Term{{Holder: "a", Since: span(0, s/2), Until: span(5*s, 6*s)}},
			[]history.Operation{take, {Kind: history.Free, Term: "a term 1", Call: 5 * s, Return: 6 * s}},
		},
		"the record of the next term": {
			[]timeline.Term{{Holder: "a", Since: span(3*s, 4*s), Until: span(5*s, 6*s)}}, unseen,
		},
		"a record that it had asked for before, and then its own": {
			[]timeline.Term{{Holder: "a", Since: span(1100*time.Millisecond, 1200*time.Millisecond), Until: span(1300*time.Millisecond, 1400*time.Millisecond)}, {Holder: "a", Since: span(1500*time.Millisecond, 1600*time.Millisecond), Until: span(5*s, 6*s)}},
			[]history.Operation{take, {Kind: history.Free, Term: "a term 1", Call: 5 * s, Return: 6 * s}},
		},
		"no record at all": {nil, unseen},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, operations(c.terms, "a", won, 20*s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What a lock may do and what it may not, as looks and logs have it.
func TestALookIsSlowThatTookLongerThanUsual(t *testing.T) {
	const ms = time.Millisecond
	looks := func(took ...time.Duration) (all []timeline.Look) {
		for i, d := range took {
			at := time.Duration(i) * s
			all = append(all, timeline.Look{Asked: at, Answered: at + d})
		}
		return all
	}
	failed := looks(5*ms, 5*ms, 5*ms, 300*ms)
	failed[3].Failed = true
	for name, c := range map[string]struct {
		looks []timeline.Look
		want  []timeline.Span
	}{
		"none":                        {nil, nil},
		"one of a server that is not": {looks(5*ms, 5*ms, 41*ms, 5*ms), []timeline.Span{span(2*s, 2*s+41*ms)}},
		"no later than a process":     {looks(5*ms, 5*ms, 35*ms, 5*ms), nil},
		"a server that always is":     {looks(80*ms, 85*ms, 90*ms, 80*ms, 85*ms), nil},
		"the slowest of such a one":   {looks(80*ms, 85*ms, 300*ms, 80*ms, 85*ms), []timeline.Span{span(2*s, 2*s+300*ms)}},
		"one that failed":             {failed, nil},
	} {
		if diff := cmp.Diff(c.want, slowLooks(c.looks)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTheHistoryOfARecordIsThatOfALockOrNot(t *testing.T) {
	term := func(holder string, since, until time.Duration) timeline.Term {
		end := timeline.Span{}
		if until > 0 {
			end = span(until, until+s/10)
		}
		return timeline.Term{Holder: holder, Since: span(since, since+s/10), Until: end}
	}
	type works = map[string]story
	work := func(asked ...timeline.Span) (all story) { // from when it asked to when it began
		for _, a := range asked {
			all.asked, all.work = append(all.asked, a.From), append(all.work, span(a.To, a.To+s))
		}
		return all
	}
	for name, c := range map[string]struct {
		terms []timeline.Term
		works works
		want  history.Verdict
	}{
		"one after the other": {
			[]timeline.Term{term("a", s, 5*s), term("b", 6*s, 0)}, works{"a": work(span(0, 2*s)), "b": work(span(0, 7*s))}, history.Legal,
		},
		"two at once, by the record": {
			[]timeline.Term{term("a", s, 9*s), term("b", 6*s, 0)}, works{"a": work(span(0, 2*s)), "b": work(span(3*s, 7*s))}, history.Illegal,
		},
		"two at once, and the first never freed": {
			[]timeline.Term{term("a", s, 0)}, works{"a": work(span(0, 2*s)), "b": work(span(3*s, 7*s))}, history.Illegal,
		},
		"a term that no look has shown, between two others": {
			[]timeline.Term{term("a", s, 4*s), term("c", 9*s, 0)}, works{"a": work(span(0, 2*s)), "b": work(span(3*s, 7*s)), "c": work(span(5*s, 10*s))}, history.Legal,
		},
		"a holder that gives up, and wins the same record back": {
			[]timeline.Term{term("a", s, 9*s), term("b", 10*s, 0)}, works{"a": work(span(0, 2*s), span(4*s, 5*s)), "b": work(span(3*s, 11*s))}, history.Legal,
		},
		"a holder that wins the same record back while another leads": {
			[]timeline.Term{term("a", s, 9*s), term("b", 4500*time.Millisecond, 0)}, works{"a": work(span(0, 2*s), span(4*s, 7*s)), "b": work(span(4*s, 5*s))}, history.Illegal,
		},
		"a wait that was given up shows late, before its own record": {
			[]timeline.Term{term("b", s, 2*s), term("a", 3*s, 4*s), term("a", 5*s, 8*s), term("b", 9*s, 0)},
			works{"a": work(span(2*s, 6*s)), "b": work(span(0, 1500*time.Millisecond), span(6*s, 10*s))}, history.Legal,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var all []history.Operation
			for holder, w := range c.works {
				all = append(all, operations(c.terms, holder, w, 20*s)...)
			}
			if got, why := history.Check(all, time.Minute); got != c.want {
				t.Errorf("%s, want %s: %s\n%v", got, c.want, why, all)
			}
		})
	}
}

func TestAReadingIsComparedWithDeeds(t *testing.T) {
	series := electtest.Series{
		of(catalog.Attempts): 7, of(catalog.Acquired): 3, of(catalog.NotAcquired, catalog.Contended.String()): 2, of(catalog.NotAcquired, catalog.BackendError.String()): 1,
		of(catalog.TermsEnded, catalog.Lost.String()): 1, of(catalog.TermsEnded, catalog.Released.String()): 1, of(catalog.Renewals, catalog.RenewalOK.String()): 9,
	}
	done := deeds{Runs: 7, Refused: 3, Begun: 3, Returned: 2, Renewed: 9}
	for name, c := range map[string]struct {
		series        electtest.Series
		before, after deeds
		callbacks     bool
		want          []string
	}{
		"as it is":               {series, done, done, false, nil},
		"while things happen":    {series, deeds{Runs: 6, Refused: 2, Begun: 2, Returned: 1, Renewed: 7}, deeds{Runs: 8, Refused: 4, Begun: 4, Returned: 3, Renewed: 10}, false, nil},
		"callbacks":              {series, done, done, true, nil},
		"a renewal too many":     {series.With(electtest.Series{of(catalog.Renewals, catalog.RenewalOK.String()): 11}), done, done, false, []string{"leader_renewals_total that succeeded is 11, the log has 0 to 10"}},
		"a win too many":         {series.With(electtest.Series{of(catalog.Acquired): 5}), done, done, false, []string{"leader_acquired_total is 5, the log has 3 to 4"}},
		"a win too many, called": {series.With(electtest.Series{of(catalog.Acquired): 5}), done, done, true, []string{"leader_acquired_total is 5, the log has 3 to 4"}},
		"a win too few":          {series.With(electtest.Series{of(catalog.Acquired): 2}), done, done, false, []string{"leader_acquired_total is 2, the log has 3 to 4"}},
		"an end too few":         {series.Without(of(catalog.TermsEnded, catalog.Lost.String())), done, done, false, []string{"leader_terms_ended_total is 1, the log has 2 to 3"}},
		"an attempt too many":    {series.With(electtest.Series{of(catalog.Attempts): 8}), done, done, false, []string{"leader_attempts_total is 8, the log has 6 to 7"}},
		"a refusal too few":      {series.Without(of(catalog.NotAcquired, catalog.Contended.String())), done, done, false, []string{"leader_not_acquired_total is 1, the log has 3 to 4"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := reading{Series: c.series, Before: c.before, After: c.after}
			if diff := cmp.Diff(c.want, timeline.Differences(r.counts(c.callbacks))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestASampleIsOnTheClockOfTheRun(t *testing.T) {
	r := reading{At: began.Add(s), Until: began.Add(2 * s), Naive: true, Series: electtest.Series{of(catalog.Active): 1, of(catalog.LeaseExpiry): float64(began.Unix()) + 4}}
	got := r.sample(began, 0)
	want := timeline.Sample{Span: timeline.Span{From: s, To: 2 * s}, Active: true, Naive: true, Ends: 4*s - 600}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatNoAnswerHasSaidCannotBeKnown(t *testing.T) {
	const takes = 10 * time.Millisecond
	for name, c := range map[string]struct {
		asked, heard time.Duration // before the reading
		givesUp      time.Duration
		want         bool
	}{
		"an answer":                               {3 * s, 2 * s, 0, false},
		"up to the end of the lease":              {4*s - takes, s, 0, false},
		"the lease ends while it is read":         {4*s - takes + 1, s, 0, true},
		"an answer long ago":                      {5 * s, 5 * s, 0, true},
		"a late answer to a question of long ago": {5 * s, s, 0, true},
		"an elector that has given up":            {3 * s, 2 * s, s, true},
		"one that has not yet":                    {3*s - takes, 2 * s, s, false},
		"an answer in this moment":                {s, rules.Late - 1, 0, true},
		"an answer a moment ago":                  {s, rules.Late, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			at := began.Add(10 * s)
			r := reading{At: at, Until: at.Add(takes), Asked: at.Add(-c.asked), Heard: at.Add(-c.heard)}
			if got := r.sample(began, c.givesUp).Unknowable; got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
	if (reading{At: began, Until: began}).sample(began, 0).Unknowable {
		t.Error("of a client that does not tell its answers, all can be known")
	}
}

// sound is a result without a fault.
func sound() *result {
	return &result{
		Elector: "etcd", Title: "etcd concurrency.Election", Server: "etcd", Version: "3.7.3", Lease: 4 * s, Length: 120 * s,
		Total: timeline.Figures{Led: 100 * s, Judged: 1000}, Record: history.Legal,
		ByFault:  map[kind]timeline.Figures{none: {Led: 100 * s, Judged: 1000}},
		Counters: counters{Readings: 1000, Answered: 40, Counted: 39}, Faults: map[kind]int{kill: 3},
	}
}

func TestWhatIsWrongWithARun(t *testing.T) {
	b, err := find("etcd")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*result)
		want   []string
	}{
		"nothing":                        {func(*result) {}, nil},
		"a false leader for two scrapes": {func(r *result) { r.Total.Active.LongestLeader = 200 * time.Millisecond }, nil},
		"a false leader for longer": {
			func(r *result) { r.Total.Active.LongestLeader = 300 * time.Millisecond },
			[]string{"leader_active was 1 for 300ms at a stretch without the lock; at most 200ms is explained, since the adapter watches the leader's key."},
		},
		"a false leader whose circumstances are known": {
			func(r *result) {
				r.FalseLeader = []falseLeader{{Holder: "candidate-1-1", From: 12 * s, Lasted: 300 * time.Millisecond, Stalled: 50 * time.Millisecond, Faults: []kind{remove}, Allowed: 200 * time.Millisecond}}
			},
			[]string{"leader_active was 1 for 300ms at a stretch without the lock (candidate-1-1, 12.0 s after the start, record deleted by an operator; the machine was late for 50ms of it); at most 200ms is explained, since the adapter watches the leader's key."},
		},
		"a false leader that the machine explains": {
			func(r *result) {
				r.Total.Active.LongestLeader = 300 * time.Millisecond
				r.FalseLeader = []falseLeader{{Lasted: 300 * time.Millisecond, Stalled: 100 * time.Millisecond, Allowed: 200 * time.Millisecond}}
			}, nil,
		},
		"a false leader while no answers come": {
			func(r *result) {
				r.Total.Active.LongestLeader = 3 * s
				r.FalseLeader = []falseLeader{{Lasted: 3 * s, Faults: []kind{remove, restart}, Allowed: 3800 * time.Millisecond}}
			}, nil,
		},
		"an absence of two scrapes in a short run": {
			func(r *result) {
				r.ByFault[none] = timeline.Figures{Led: 100 * s, Active: timeline.Gauge{FalseAbsence: 200 * time.Millisecond}}
				r.Total.Active.KnownAbsence = 200 * time.Millisecond
			}, nil,
		},
		"an absence that the machine explains": {
			func(r *result) {
				r.ByFault[none] = timeline.Figures{Led: 100 * s, Active: timeline.Gauge{FalseAbsence: s, StalledAbsence: 800 * time.Millisecond}}
			}, nil,
		},
		"an absence without a fault": {
			func(r *result) {
				r.ByFault[none] = timeline.Figures{Led: 100 * s, Active: timeline.Gauge{FalseAbsence: 300 * time.Millisecond}}
			},
			[]string{"leader_active was 0 for 0.30 % of the leadership although no fault kept answers away; at most 0.1 % is allowed"},
		},
		"an absence while no answers come": {
			func(r *result) {
				r.ByFault[oneWay] = timeline.Figures{Led: 10 * s, Active: timeline.Gauge{FalseAbsence: 5 * s}}
			}, nil,
		},
		"an absence in spite of an answer": {
			func(r *result) {
				r.Total.Active = timeline.Gauge{FalseAbsence: 5 * s, KnownAbsence: 300 * time.Millisecond}
			},
			[]string{"leader_active was 0 for 0.30 % of the leadership although an answer had arrived whose lease had not run out; at most 0.1 % is allowed"},
		},
		"an end that is too late": {
			func(r *result) { r.Headroom.Unsafe = 51 * time.Millisecond },
			[]string{"the exported lease end was 51ms later than the backend's; at most 50ms is allowed"},
		},
		"an end that is early": {func(r *result) { r.Headroom.Safe = 2 * s }, nil},
		"a counter": {
			func(r *result) { r.Counters.Differences = []string{"x is 2, the log has 1 to 1"} }, []string{"counters: x is 2, the log has 1 to 1"},
		},
		"renewals that are not counted": {
			func(r *result) { r.Counters.Counted = 20 }, []string{"counters: 40 renewals were answered and 20 counted"},
		},
		"a broken elector": {
			func(r *result) { r.Record, r.Illegal = history.Illegal, "no place for take b" },
			[]string{"the elector is broken, not the metric: by the backend's record the history of the lock is illegal: no place for take b"},
		},
		"nothing was judged": {
			func(r *result) { r.Total.Led = 0 }, []string{"no candidate led at a time that could be judged"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := sound()
			c.change(r)
			if diff := cmp.Diff(c.want, r.wrong(b)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestThePageHasTheWorstFirst(t *testing.T) {
	right, wrong := sound(), sound()
	wrong.Elector, wrong.Title = "redis", "bsm/redislock"
	wrong.Total.Active = timeline.Gauge{FalseLeader: s, LongestLeader: s, FalseAbsence: s}
	wrong.Total.Naive, wrong.Total.AfterLock = timeline.Gauge{FalseLeader: 2 * s}, timeline.Gauge{FalseLeader: s / 2}
	wrong.ByFault[remove] = timeline.Figures{Led: 10 * s, Active: wrong.Total.Active}
	var text strings.Builder
	page{[]*result{right, wrong}, &text}.write()
	for _, want := range []string{
		"| bsm/redislock | 100 s | 1.00 s (36.0 s) | 2.00 s (72.0 s) | 0.50 s (18.0 s) | 1.00 s | 1.00 s (36.0 s) | 0.00 s (0.0 s) | 0.00 s (0.0 s) |\n" +
			"| etcd concurrency.Election | 100 s | 0.00 s (0.0 s) | 0.00 s (0.0 s) | 0.00 s (0.0 s) | 0.00 s | 0.00 s (0.0 s) | 0.00 s (0.0 s) | 0.00 s (0.0 s) |\n",
		"| bsm/redislock | 0.50 | 2.00 | the other is 0 | the other is 0 |\n| etcd concurrency.Election | both 0 | both 0 | both 0 | both 0 |\n",
		"| bsm/redislock | record deleted by an operator | 0 | 10 s | 1.00 s | 0.00 s | 0.00 s | 1.00 s | 0.00 s | 0.00 s |\n\n2 rows are left out.\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no\n%s\nin\n%s", want, text.String())
		}
	}
}

func TestTheCommittedPageIsWhatTheResultsSay(t *testing.T) {
	results, err := readResults("results")
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../../docs/truth.md")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	page{results, &want}.write()
	if diff := cmp.Diff(want.String(), string(have)); diff != "" {
		t.Errorf("docs/truth.md is out of date, write it with soak -out results -page:\n%s", diff)
	}
}
