package timeline

import (
	"cmp"
	"slices"
	"time"
)

// Sample is one reading of a candidate. It is of some instant between From and
// To.
type Sample struct {
	Span
	// Active is what leader_active said. Naive is a gauge that the callbacks
	// set: 1 when the work starts, 0 when it has ended. AfterLock is one that
	// its user sets after Lock has returned and clears after Unlock has.
	Active, Naive, AfterLock bool
	// Ends is the lease end that the candidate exports; 0: unknown.
	Ends time.Duration
	// Unknowable says that no answer from which the candidate can know that it
	// still holds the lock has reached it in time.
	Unknowable bool
}

// Life is one process of a candidate, from its start to its end.
type Life struct {
	// Holder is what the backend calls it; no two lives share one.
	Holder  string
	Samples []Sample // in order of time
	// Tenures are the times in which the elector had told the process that it
	// leads, up to the moment at which it began to give that up. They come from
	// the candidate's log.
	Tenures []Span
	// Stalls are times in which a process of the measurement did not run although
	// it had something to do, or the server was slow.
	Stalls []Span
}

// stalled is how much of a span falls into stalls.
func (l Life) stalled(span Span) (sum time.Duration) {
	var cut []Span
	for _, s := range l.Stalls {
		if s.From < span.To && span.From < s.To {
			cut = append(cut, Span{max(s.From, span.From), min(s.To, span.To)})
		}
	}
	slices.SortFunc(cut, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	at := span.From
	for _, s := range cut {
		sum += max(s.To-max(s.From, at), 0)
		at = max(at, s.To)
	}
	return sum
}

// Rules say how samples count.
type Rules struct {
	// Interval is how often a candidate is scraped. A sample stands for the
	// time until the next one, and for at most twice the interval.
	Interval time.Duration
	// Late is how long a reading may take; a sample that took longer is left
	// out, since the value may be of any instant within it.
	Late time.Duration
}

// Gauge is how wrong a gauge was.
type Gauge struct {
	// FalseLeader is time in which it said 1, and the backend named another or
	// no holder. FalseAbsence is time in which it said 0 in a tenure, and the
	// backend named the candidate.
	FalseLeader, FalseAbsence time.Duration
	// KnownAbsence is the part of FalseAbsence in which the candidate could know
	// better: an answer had reached it whose lease had not run out.
	KnownAbsence time.Duration
	// StalledAbsence is the part of FalseAbsence that a stall explains. It is not in
	// KnownAbsence.
	StalledAbsence time.Duration `json:",omitempty"`
	// LongestLeader is the longest time at a stretch of false leadership.
	LongestLeader time.Duration
}

// Figures are what was found in some time.
type Figures struct {
	Active, Naive, AfterLock Gauge
	// Led is the time in which a candidate held the lock and was sampled.
	Led time.Duration
	// Judged counts samples; LeftOut those that took too long to be read, and
	// Unknown those at whose time the truth is not known.
	Judged, LeftOut, Unknown int
}

// PerHour scales a time to an hour of leadership; 0 without any.
func (f Figures) PerHour(d time.Duration) time.Duration {
	if f.Led <= 0 {
		return 0
	}
	return time.Duration(float64(d) / float64(f.Led) * float64(time.Hour))
}

// Part is a time as a part of the leadership; 0 without any.
func (f Figures) Part(d time.Duration) float64 {
	if f.Led <= 0 {
		return 0
	}
	return float64(d) / float64(f.Led)
}

// Add sums figures up.
func (f *Figures) Add(other Figures) {
	f.Active.add(other.Active)
	f.Naive.add(other.Naive)
	f.AfterLock.add(other.AfterLock)
	f.Led += other.Led
	f.Judged += other.Judged
	f.LeftOut += other.LeftOut
	f.Unknown += other.Unknown
}

func (g *Gauge) add(other Gauge) {
	g.FalseLeader += other.FalseLeader
	g.FalseAbsence += other.FalseAbsence
	g.KnownAbsence += other.KnownAbsence
	g.StalledAbsence += other.StalledAbsence
	g.LongestLeader = max(g.LongestLeader, other.LongestLeader)
}

// Judge compares the samples of a life with the truth. of names what each
// sample's figures belong to, such as the fault of that time.
func Judge(t *Truth, life Life, r Rules, of func(at time.Duration) string) map[string]*Figures {
	all := map[string]*Figures{}
	var runs [3]time.Duration // of false leadership at a stretch, by gauge
	for i, s := range life.Samples {
		name := of(s.From)
		if all[name] == nil {
			all[name] = &Figures{}
		}
		f := all[name]
		if s.Length() > r.Late {
			f.LeftOut++
			continue
		}
		holder, known := t.Holder(s.Span)
		if !known {
			f.Unknown++
			continue
		}
		f.Judged++
		weight := r.weight(life.Samples, i)
		mine := holder == life.Holder
		if mine {
			f.Led += weight
		}
		tenured := slices.ContainsFunc(life.Tenures, func(t Span) bool { return t.Holds(s.Span) })
		for k, g := range []struct {
			says bool
			*Gauge
		}{{s.Active, &f.Active}, {s.Naive, &f.Naive}, {s.AfterLock, &f.AfterLock}} {
			switch {
			case g.says && !mine:
				runs[k] += weight
				g.FalseLeader += weight
				g.LongestLeader = max(g.LongestLeader, runs[k])
				continue
			case !g.says && mine && tenured:
				g.FalseAbsence += weight
				switch {
				case life.stalled(Span{s.From - r.Interval, s.To}) > 0:
					g.StalledAbsence += weight
				case !s.Unknowable:
					g.KnownAbsence += weight
				}
			}
			runs[k] = 0
		}
	}
	return all
}

// FalseLeader is a time at a stretch in which leader_active was 1 without the
// lock.
type FalseLeader struct {
	Span
	// Lasted is the time that its samples stand for.
	Lasted time.Duration
	// Stalled is how long, from an interval before it, a stall lasted.
	Stalled time.Duration
}

// FalseLeaders are those of a life. A sample at whose time the truth is not known
// does not end one.
func FalseLeaders(t *Truth, life Life, r Rules) (all []FalseLeader) {
	open := false
	for i, s := range life.Samples {
		holder, known := t.Holder(s.Span)
		if s.Length() > r.Late || !known {
			continue
		}
		if !s.Active || holder == life.Holder {
			open = false
			continue
		}
		if !open {
			all = append(all, FalseLeader{Span: Span{s.From, s.From}})
		}
		open = true
		f := &all[len(all)-1]
		weight := r.weight(life.Samples, i)
		f.To, f.Lasted = s.From+weight, f.Lasted+weight
	}
	for i, f := range all {
		all[i].Stalled = life.stalled(Span{f.From - r.Interval, f.To})
	}
	return all
}

// weight is the time that a sample stands for.
func (r Rules) weight(samples []Sample, i int) time.Duration {
	if i == len(samples)-1 {
		return r.Interval
	}
	return min(samples[i+1].From-samples[i].From, 2*r.Interval)
}
