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
	Record         history.Verdict
	Terms          int
	Overlap        time.Duration
	LongestOverlap time.Duration
	Writes         writes

	Harness harness
	// Note is what is known of the findings, by hand; usually empty.
	Note string `json:",omitempty"`

	Resources map[string][2]resources // of lives that stopped gracefully: first and last
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
func (r *soak) result(seed uint64) (*result, error) {
	looks, delay := r.referee.result()
	truth := timeline.NewTruth(looks, looksApart)
	out := &result{
		Elector: r.backend.name, Title: r.backend.title, Server: r.backend.server, Version: r.server.Version(),
		Seed: seed, Length: time.Since(r.start), Lease: electors.Lease,
		Faults: map[kind]int{}, ByFault: map[kind]timeline.Figures{}, ToZero: map[kind]timesToZero{}, Resources: map[string][2]resources{},
		Harness: delay, Terms: len(truth.Terms()),
	}
	for _, a := range r.applied {
		out.Faults[a.Kind]++
	}
	out.Harness.Processors = runtime.NumCPU()
	for _, l := range r.loads {
		out.Harness.Load += l / float64(len(r.loads))
	}
	s := &summary{soak: r, out: out, truth: truth, looks: looks}
	for _, p := range r.candidates {
		for _, l := range p.lives {
			if err := s.add(p, l); err != nil {
				return nil, err
			}
		}
	}
	s.finish()
	return out, nil
}

// summary is a result in the making.
type summary struct {
	*soak
	out     *result
	truth   *timeline.Truth
	looks   []timeline.Look
	apart   []time.Duration // of headroom
	work    []timeline.Span
	records []history.Operation
}

func (s *summary) add(p *process, l *life) error {
	events, err := readJournal(l.log)
	if err != nil {
		return err
	}
	story := tell(events, s.start, s.lasted(l))
	line := timeline.Life{Holder: l.holder, Tenures: story.tenures}
	for _, r := range l.readings {
		line.Samples = append(line.Samples, r.sample(s.start, s.backend.givesUp))
	}
	of := func(at time.Duration) string { return string(s.faultOf(p.number, at)) }
	for name, f := range timeline.Judge(s.truth, line, rules, of) {
		sum := s.out.ByFault[kind(name)]
		sum.Add(*f)
		s.out.ByFault[kind(name)] = sum
		s.out.Total.Add(*f)
	}
	for _, loss := range timeline.Losses(s.truth, line) {
		k := s.faultOf(p.number, loss.At.To)
		z := s.out.ToZero[k]
		z.Losses++
		z.Most = max(z.Most, loss.ToZero)
		if !loss.Seen {
			z.Unseen++
		}
		s.out.ToZero[k] = z
	}
	for _, a := range s.applied {
		if a.Kind == suspend && a.Candidate == p.number {
			s.out.Woke.Add(timeline.FirstAwake(s.truth, line, timeline.Span{From: a.From, To: a.awake()}))
		}
	}
	s.apart = append(s.apart, timeline.Headrooms(s.looks, line)...)
	s.work = append(s.work, story.work...)
	least, most := timeline.AfterLoss(s.truth, line, story.work)
	s.out.AfterLoss.Least += least
	s.out.AfterLoss.Most += most
	s.records = append(s.records, operations(s.truth.Terms(), l.holder, story)...)
	s.counters(l)
	return nil
}

// lasted is the last instant at which a life was seen.
func (s *summary) lasted(l *life) time.Duration {
	switch {
	case l.last != nil:
		return onWall(s.start, l.last.Until)
	case len(l.readings) > 0:
		return onWall(s.start, l.readings[len(l.readings)-1].Until)
	}
	return 0
}

// faultOf is the fault that a candidate was under, or recovered from, then.
func (s *summary) faultOf(candidate int, at time.Duration) kind {
	for _, a := range slices.Backward(s.applied) {
		if a.From <= at && at < a.To+2*electors.Lease && (a.Kind.shared() || a.Candidate == candidate) {
			return a.Kind
		}
	}
	return none
}

// counters compares each reading with what the candidate did.
func (s *summary) counters(l *life) {
	c := &s.out.Counters
	readings := l.readings
	if l.last != nil {
		readings = append(slices.Clip(readings), *l.last)
		c.Answered += l.last.After.Renewed
		c.Counted += int64(l.last.renewed())
		s.out.Resources[l.holder] = [2]resources{readings[0].Resources, l.last.Resources}
	}
	c.Readings += len(readings)
	said := map[string]bool{}
	differs := func(what, text string) {
		if !said[what] {
			said[what] = true
			c.Differences = append(c.Differences, l.holder+": "+text)
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
	s.out.Record = history.Check(s.records, time.Minute)
	for _, w := range s.register.all() {
		s.out.Writes.All++
		if w.refused {
			s.out.Writes.Refused++
		}
		if holder, known := s.truth.Holder(timeline.Span{From: w.at, To: w.at}); known && holder != w.holder {
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
		case eventRun:
			asked = at
		case eventStop:
			stopped = at
		case eventBegun:
			s.asked = append(s.asked, asked)
			s.work = append(s.work, timeline.Span{From: at})
		case eventEnded:
			s.work[ended].To = at
			ended++
			asked = at
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
// when the record went.
func operations(terms []timeline.Term, holder string, s story) (all []history.Operation) {
	for i, w := range s.work {
		name := fmt.Sprint(holder, " term ", i+1)
		all = append(all, history.Operation{Kind: history.Take, Term: name, Call: s.asked[i], Return: w.From})
		for _, t := range terms {
			if t.Holder == holder && t.Since.To > s.asked[i] && t.Since.From < w.From {
				if t.Until != (timeline.Span{}) {
					all = append(all, history.Operation{Kind: history.Free, Term: name, Call: t.Until.From, Return: t.Until.To})
				}
				break
			}
		}
	}
	return all
}
