package main

import (
	"strings"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/test/electors"
	"github.com/leaderscope/leaderscope/test/soak/timeline"
)

var of = electtest.Of

// reading is what a candidate would export, read between At and Until, beside
// what it did itself.
type reading struct {
	At, Until time.Time
	Series    electtest.Series
	Broken    string // the invariant that the series break

	// Naive and AfterLock are the gauges that people write by hand: set when the
	// work starts and cleared when it has ended, or when Unlock has returned.
	Naive, AfterLock bool

	// Asked and Heard are the last request, as it was sent, whose answer showed the
	// candidate's client that it has its lease, and when that answer was there; zero
	// before the first, and where the client does not tell.
	Asked, Heard time.Time

	// Before and After are what the candidate did, counted around the reading.
	Before, After deeds

	Resources resources
}

// deeds are what a candidate did so far, by its own count.
type deeds struct {
	// Runs were started, Refused of them ended without work, Begun began it, and
	// Returned ended after it.
	Runs, Refused, Begun, Returned int64
	// Renewed are the answers to renewals that its client got while it led.
	Renewed int64
}

// resources are what a process uses.
type resources struct {
	Goroutines, Descriptors int
	Memory                  int64 // resident, in bytes
}

// counts compares the counters with the candidate's deeds. A campaign with
// callbacks makes its attempts by itself, and only its work is counted.
func (r reading) counts(callbacks bool) []timeline.Count {
	before, after := r.Before, r.After
	won := r.Series[of(catalog.Acquired)]
	atMost := float64(after.Runs - before.Refused)
	if callbacks {
		// Work may begin a moment after the win.
		atMost = float64(after.Begun + 1)
	}
	counts := []timeline.Count{
		{Name: catalog.Acquired.Name(), Got: won, Least: float64(before.Begun), AtMost: atMost},
		{Name: catalog.TermsEnded.Name(), Got: sum(r.Series, catalog.TermsEnded), Least: float64(before.Returned), AtMost: won},
	}
	if !callbacks {
		counts = append(counts,
			timeline.Count{Name: catalog.Attempts.Name(), Got: r.Series[of(catalog.Attempts)], Least: float64(before.Begun + before.Refused), AtMost: float64(after.Runs)},
			timeline.Count{Name: catalog.NotAcquired.Name(), Got: sum(r.Series, catalog.NotAcquired), Least: float64(before.Refused), AtMost: float64(after.Runs - before.Begun)},
		)
	}
	// One more may have been answered between the win and the work.
	return append(counts, timeline.Count{Name: catalog.Renewals.Name() + " that succeeded", Got: r.renewed(), AtMost: float64(after.Renewed + 1)})
}

func (r reading) renewed() float64 { return r.Series[of(catalog.Renewals, catalog.RenewalOK.String())] }

func sum(s electtest.Series, m *catalog.Metric) (n float64) {
	for key, v := range s {
		if strings.HasPrefix(key, m.Name()+"{") {
			n += v
		}
	}
	return n
}

// sample is the reading on the clock of the run. Without an answer the elector
// gives up that long before its lease end.
func (r reading) sample(start time.Time, givesUp time.Duration) timeline.Sample {
	s := timeline.Sample{
		Span:   timeline.Span{From: r.At.Sub(start), To: r.Until.Sub(start)},
		Active: r.Series[of(catalog.Active)] > 0, Naive: r.Naive, AfterLock: r.AfterLock,
	}
	if end, known := r.Series[of(catalog.LeaseExpiry)]; known && end > 0 {
		// Of a float64 of this size the last digit is a quarter of a microsecond.
		s.Ends = time.Duration((end - float64(start.Unix())) * float64(time.Second))
		s.Ends -= time.Duration(start.Nanosecond())
	}
	// An answer that came a moment ago is on its way through the client.
	known := r.Asked.Add(electors.Lease - givesUp)
	s.Unknowable = !r.Asked.IsZero() && (r.Until.After(known) || r.At.Sub(r.Heard) < rules.Late)
	return s
}
