package instrument_test

import (
	"context"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// What most processes of a fleet show most of the time: a lock that they do
// not hold. Histograms appear with their first observation, so this is also
// without the buckets that dominate a leader's series.
func TestAStandbyThatHasDoneNothingStaysWithinItsBudgetOfSeries(t *testing.T) {
	const budget = 36
	for name, opts := range map[string][]instrument.ElectionOption{
		"a lock around one run": {instrument.LeaseDuration(10 * time.Second), instrument.Backend("redis"), instrument.Family("reports")},
		"a held leadership":     {instrument.Hold(), instrument.LeaseDuration(15 * time.Second), instrument.Backend("etcd")},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := instrument.New()
			if err != nil {
				t.Fatal(err)
			}
			e := m.Election("orders", opts...)
			if got := electtest.Read(m, e.Label()); len(got) > budget {
				t.Errorf("%d series, want at most %d; what most standbys never need appears with its first value: %v", len(got), budget, got)
			}
		})
	}
}

// Three replicas of one lock, one of which leads, renews and works.
func TestThreeReplicasStayWithinTheirBudgetOfSeries(t *testing.T) {
	const budget = 50
	series := 0
	for replica := range 3 {
		m, err := instrument.New()
		if err != nil {
			t.Fatal(err)
		}
		e := m.Election("orders", instrument.Hold(), instrument.LeaseDuration(15*time.Second), instrument.Backend("etcd"))
		if replica == 0 {
			term, err := e.Acquire(t.Context(), electtest.Wins(instrument.NewLease(nil, instrument.Token(7), instrument.RenewalsReported())))
			if err != nil {
				t.Fatal(err)
			}
			term.Sink().Renewed(instrument.Renewal{Sent: time.Now()})
			_ = term.Work(t.Context(), func(context.Context, *instrument.Term) error {
				series += exposed(m)
				return nil
			})
			continue
		}
		e.Begin(t.Context()) // waits for its turn
		series += exposed(m)
	}
	if average := float64(series) / 3; average > budget {
		t.Errorf("%v series on the average, want at most %d", average, budget)
	}
}

// exposed counts the series of a lock as they are scraped: classic histograms
// are one for each bucket, the sum and the count.
func exposed(m *instrument.Middleware) (n int) {
	m.Collect(func(s *instrument.Sample) {
		switch {
		case !s.Metric.PerLock():
		case s.Histogram != nil:
			n += len(s.Histogram.Counts) + 2
		default:
			n++
		}
	})
	return n
}
