package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/test/electors"
	"github.com/leaderscope/leaderscope/test/soak/history"
	"github.com/leaderscope/leaderscope/test/soak/timeline"
)

// rules are how samples count.
var rules = timeline.Rules{Interval: interval, Late: interval / 2}

// result is what a run found, as it is stored.
type result struct {
	Elector, Title, Server, Version string
	Seed                            uint64
	Length, Lease                   time.Duration
	Faults                          map[kind]int

	Total   timeline.Figures
	ByFault map[kind]timeline.Figures
	// FalseLeader are the times in which leader_active was 1 without the lock.
	FalseLeader []falseLeader `json:",omitempty"`
	// Headroom is nothing where the elector or the backend tells no lease end.
	Headroom timeline.Headroom
	// ToZero are the times from the end of a record to leader_active 0, by the
	// fault of that time.
	ToZero map[kind]timesToZero
	// Woke is what leaders said that were suspended and woke up deposed.
	Woke timeline.Woke

	AfterLoss afterLoss
	Counters  counters
	// Record says whether the backend's record is a lock's history. Overlap is
	// how long the work of two candidates ran at once in spite of it.
	Record history.Verdict
	// Illegal is what has no place in an illegal history.
	Illegal        string `json:",omitempty"`
	Terms          int
	Overlap        time.Duration
	LongestOverlap time.Duration
	Writes         writes

	Harness harness
	// Note is what is known of the findings, by hand; usually empty.
	Note string `json:",omitempty"`

	Resources map[string][2]resources // of lives that stopped gracefully: first and last
}

// falseLeader is a time at a stretch in which leader_active of a process was 1
// without the lock.
type falseLeader struct {
	Holder   string
	From, To time.Duration
	// Lasted is how long, as samples stand for it. For Stalled of it, or just
	// before, a process of the soak did not run or the server was slow.
	Lasted, Stalled time.Duration
	// Faults are those of that time.
	Faults []kind
	// Allowed is how long it may be.
	Allowed time.Duration
}

// timesToZero are over losses; Unseen of them ended with the process.
type timesToZero struct {
	Losses, Unseen int
	Most           time.Duration
}

// afterLoss is work after a loss: exported, and as looks allow.
type afterLoss struct{ Exported, Least, Most time.Duration }

// counters is the comparison of counters with the logs.
type counters struct {
	Readings    int
	Differences []string // the first of each counter of each life
	// Answered are the renewals that clients saw answered, Counted those that
	// were exported, of lives that stopped gracefully.
	Answered, Counted int64
}

// writes are those that reached the register.
type writes struct {
	All int
	// Unheld came while the backend named another holder or none, Refused had a
	// token that was too low.
	Unheld, Refused int
}

// result sums a run up.
func (r *recording) result(b backend) *result {
	truth := timeline.NewTruth(r.Looks, looksApart)
	out := &result{
		Elector: b.name, Title: b.title, Server: b.server, Version: r.Version,
		Seed: r.Seed, Length: r.Length, Lease: electors.Lease,
		Faults: map[kind]int{}, ByFault: map[kind]timeline.Figures{}, ToZero: map[kind]timesToZero{}, Resources: map[string][2]resources{},
		Harness: r.Harness, Terms: len(truth.Terms()),
	}
	for _, a := range r.Applied {
		out.Faults[a.Kind]++
	}
	out.Harness.Processors = runtime.NumCPU()
	for _, l := range r.Loads {
		out.Harness.Load += l / float64(len(r.Loads))
	}
	s := &summary{recording: r, backend: b, out: out, truth: truth, slow: append(slowLooks(r.Looks), r.Stalls...)}
	for _, l := range r.Lives {
		s.add(l)
	}
	s.finish()
	return out
}

// summary is a result in the making.
type summary struct {
	*recording
	backend backend
	out     *result
	truth   *timeline.Truth
	slow    []timeline.Span // the soak's process did not run, or the server was slow
	apart   []time.Duration // of headroom
	work    []timeline.Span
	records []history.Operation
}

func (s *summary) add(l recordedLife) {
	story := tell(l.Events, s.Start, s.lasted(l))
	line := timeline.Life{Holder: l.Holder, Tenures: story.tenures, Stalls: append(s.stalls(l), s.slow...)}
	for _, r := range l.Readings {
		line.Samples = append(line.Samples, r.sample(s.Start, s.backend.givesUp))
	}
	of := func(at time.Duration) string { return string(s.faultOf(l.Candidate, at)) }
	for _, f := range timeline.FalseLeaders(s.truth, line, rules) {
		faults := s.faultsIn(l.Candidate, f.Span)
		s.out.FalseLeader = append(s.out.FalseLeader, falseLeader{
			Holder: l.Holder, From: f.From, To: f.To, Lasted: f.Lasted, Stalled: f.Stalled,
			Faults: faults, Allowed: s.backend.allowed(slices.ContainsFunc(faults, kind.unanswered)),
		})
	}
	for name, f := range timeline.Judge(s.truth, line, rules, of) {
		sum := s.out.ByFault[kind(name)]
		sum.Add(*f)
		s.out.ByFault[kind(name)] = sum
		s.out.Total.Add(*f)
	}
	for _, loss := range timeline.Losses(s.truth, line) {
		k := s.faultOf(l.Candidate, loss.At.To)
		z := s.out.ToZero[k]
		z.Losses++
		z.Most = max(z.Most, loss.ToZero)
		if !loss.Seen {
			z.Unseen++
		}
		s.out.ToZero[k] = z
	}
	for _, a := range s.Applied {
		if a.Kind == suspend && a.Candidate == l.Candidate {
			s.out.Woke.Add(timeline.FirstAwake(s.truth, line, timeline.Span{From: a.From, To: a.awake()}))
		}
	}
	s.apart = append(s.apart, timeline.Headrooms(s.Looks, line)...)
	s.work = append(s.work, story.work...)
	least, most := timeline.AfterLoss(s.truth, line, story.work)
	s.out.AfterLoss.Least += least
	s.out.AfterLoss.Most += most
	s.records = append(s.records, operations(s.truth.Terms(), l.Holder, story, s.Length)...)
	s.counters(l)
}

// stalls are when the process of a life did not run. That it was suspended is a
// fault and no stall.
func (s *summary) stalls(l recordedLife) (all []timeline.Span) {
	for _, e := range l.Events {
		if e.What != eventStalled {
			continue
		}
		at := onWall(s.Start, e.At)
		stall := timeline.Span{From: at - e.For, To: at}
		for _, a := range s.Applied {
			if a.Kind == suspend && a.Candidate == l.Candidate && a.From < stall.To && stall.From < a.To {
				stall.From = min(a.To, stall.To)
			}
		}
		all = append(all, stall)
	}
	return all
}

// slowLooks are those that took longer than the median of the run by more than a
// process may be late. A server that is always slow is no excuse.
func slowLooks(looks []timeline.Look) (all []timeline.Span) {
	var took []time.Duration
	for _, l := range looks {
		if !l.Failed {
			took = append(took, l.Answered-l.Asked)
		}
	}
	usual, _ := middle(took)
	for _, l := range looks {
		if !l.Failed && l.Answered-l.Asked > usual+stalls {
			all = append(all, timeline.Span{From: l.Asked, To: l.Answered})
		}
	}
	return all
}

// lasted is the last instant at which a life was seen.
func (s *summary) lasted(l recordedLife) time.Duration {
	switch {
	case l.Last != nil:
		return onWall(s.Start, l.Last.Until)
	case len(l.Readings) > 0:
		return onWall(s.Start, l.Readings[len(l.Readings)-1].Until)
	}
	return 0
}

// faultOf is the fault that a candidate was under, or recovered from, then.
func (s *summary) faultOf(candidate int, at time.Duration) kind {
	for _, a := range slices.Backward(s.Applied) {
		if a.From <= at && at < a.To+2*electors.Lease && a.hits(candidate) {
			return a.Kind
		}
	}
	return none
}

// recovers is how long after a fault a client may take until it hears of its
// server again: the next renewal is answered by then.
const recovers = electors.Lease / 2

// faultsIn are the faults that a candidate was under, or recovered from, at some
// time of a span.
func (s *summary) faultsIn(candidate int, span timeline.Span) (all []kind) {
	for _, a := range s.Applied {
		if a.From < span.To && span.From < a.To+recovers && a.hits(candidate) {
			all = append(all, a.Kind)
		}
	}
	return all
}

// counters compares each reading with what the candidate did.
func (s *summary) counters(l recordedLife) {
	c := &s.out.Counters
	readings := l.Readings
	if l.Last != nil {
		readings = append(slices.Clip(readings), *l.Last)
		c.Answered += l.Last.After.Renewed
		c.Counted += int64(l.Last.renewed())
		s.out.Resources[l.Holder] = [2]resources{readings[0].Resources, l.Last.Resources}
	}
	c.Readings += len(readings)
	said := map[string]bool{}
	differs := func(what, text string) {
		if !said[what] {
			said[what] = true
			c.Differences = append(c.Differences, l.Holder+": "+text)
		}
	}
	for _, r := range readings {
		if r.Broken != "" {
			differs("invariant", "invariant broken: "+r.Broken)
		}
		for _, count := range r.counts(s.backend.campaign != nil) {
			if d := timeline.Differences([]timeline.Count{count}); d != nil {
				differs(count.Name, d[0])
			}
		}
	}
	if n := len(readings); n > 0 {
		s.out.AfterLoss.Exported += time.Duration(readings[n-1].Series[of(catalog.WorkAfterLoss)] * float64(time.Second))
	}
}

func (s *summary) finish() {
	s.out.Headroom = timeline.NewHeadroom(s.apart)
	s.out.Overlap, s.out.LongestOverlap = timeline.Overlap(s.work)
	s.out.Record, s.out.Illegal = history.Check(s.records, time.Minute)
	for _, w := range s.Writes {
		s.out.Writes.All++
		if w.Refused {
			s.out.Writes.Refused++
		}
		if holder, known := s.truth.Holder(timeline.Span{From: w.At, To: w.At}); known && holder != w.Holder {
			s.out.Writes.Unheld++
		}
	}
}

// story is what a life did, by its log.
type story struct {
	tenures, work []timeline.Span
	// asked is when it began to ask for the term that its work is of.
	asked []time.Duration
}

// tell reads a log. Work that was not said to have ended did so when the life
// was last seen.
func tell(events []event, start time.Time, lasted time.Duration) (s story) {
	asked := time.Duration(0)
	stopped := time.Duration(-1)
	ended := 0 // pieces of work; the one before may still stop when the next begins
	for _, e := range events {
		at := onWall(start, e.At)
		lasted = max(lasted, at)
		switch e.What {
		case eventRun, eventReturned:
			asked = at
		case eventStop:
			stopped = at
		case eventBegun:
			s.asked = append(s.asked, asked)
			s.work = append(s.work, timeline.Span{From: at})
		case eventEnded:
			s.work[ended].To = at
			ended++
		}
	}
	for i, w := range s.work {
		if w.To == 0 {
			s.work[i].To = lasted
		}
		t := s.work[i]
		if stopped >= 0 {
			t.To = min(t.To, stopped) // from then on it gives up
		}
		s.tenures = append(s.tenures, t)
	}
	return s
}

// operations are the changes of the lock: taken when the elector said so, freed
// when the record went. Of a term that no look has shown, the record tells only
// that it was freed before the run was over.
func operations(terms []timeline.Term, holder string, s story, over time.Duration) (all []history.Operation) {
	freed := -1 // place of the operation that freed the work before
	var last *timeline.Term
	for i, w := range s.work {
		name := fmt.Sprint(holder, " term ", i+1)
		all = append(all, history.Operation{Kind: history.Take, Term: name, Call: s.asked[i], Return: w.From})
		t := taken(terms, holder, timeline.Span{From: s.asked[i], To: w.From})
		if t != nil && t == last && freed >= 0 {
			// It was freed and taken again between two looks, or its holder has only
			// given up: the record continues.
			all[freed] = history.Operation{Kind: history.Free, Term: all[freed].Term, Call: s.asked[i-1], Return: w.From}
		}
		last, freed = t, -1
		free := history.Operation{Kind: history.Free, Term: name, Call: s.asked[i], Return: max(over, w.From)}
		if t != nil {
			free.Call, free.Return = t.Until.From, t.Until.To
		}
		if t == nil || t.Until != (timeline.Span{}) {
			freed = len(all)
			all = append(all, free)
		}
	}
	return all
}

// taken is the term of the record that a holder took in that time: the last that
// began then, since what it had asked for before may show up late; or else one
// that it had already. It is nil when no look has shown it.
func taken(terms []timeline.Term, holder string, at timeline.Span) (t *timeline.Term) {
	for i := range terms {
		ended := terms[i].Until != (timeline.Span{}) && terms[i].Until.To <= at.From
		if terms[i].Holder == holder && terms[i].Since.From < at.To && !ended {
			t = &terms[i]
		}
	}
	return t
}
