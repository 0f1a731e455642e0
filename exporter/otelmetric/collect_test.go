package otelmetric

import (
	"context"
	"fmt"
	"testing"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/embedded"
	sdk "go.opentelemetry.io/otel/sdk/metric"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/redact"
)

// exporting makes an export of so many locks.
func exporting(t *testing.T, locks int) *export {
	t.Helper()
	m, err := instrument.New(instrument.WithRedactor(redact.Raw()))
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(m, WithMeterProvider(sdk.NewMeterProvider(sdk.WithReader(sdk.NewManualReader()))))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	for i := range locks {
		m.Named(fmt.Sprint("lock-", i))
	}
	return e.shared
}

// ignoring is an Observer that drops what it is told.
type ignoring struct{ embedded.Observer }

func (ignoring) ObserveFloat64(metric.Float64Observable, float64, ...metric.ObserveOption) {}
func (ignoring) ObserveInt64(metric.Int64Observable, int64, ...metric.ObserveOption)       {}

// The set of a bare lock name is made once, when the lock is: only series with
// one more attribute cost something in each collection.
func TestACollectionMakesNoSetOfABareLockName(t *testing.T) {
	const few, many = 10, 50
	labelled := 0
	one := exporting(t, 1)
	one.m.Collect(func(s *instrument.Sample) {
		if s.Metric.PerLock() && s.Metric.NumLabels() > 0 {
			labelled++
		}
	})
	allocations := func(locks int) float64 {
		e := exporting(t, locks)
		return testing.AllocsPerRun(10, func() { _ = e.observe(context.Background(), ignoring{}) })
	}
	perSeries := (allocations(many) - allocations(few)) / float64((many-few)*labelled)
	if perSeries > allocationsPerSet {
		t.Errorf("%.2f allocations for each series with another label, want at most %v", perSeries, allocationsPerSet)
	}
}

// allocationsPerSet is what a set of two attributes takes with its option: two,
// and something once in a collection.
const allocationsPerSet = 2.1

func TestPlacesAreIdenticalWhereTheyCanBeCompared(t *testing.T) {
	type holder struct{ in any }
	one, two := &holder{1}, &holder{1}
	for name, c := range map[string]struct {
		a, b any
		want bool
	}{
		"one":                            {one, one, true},
		"two":                            {one, two, false},
		"equal values":                   {holder{1}, holder{1}, true},
		"other values":                   {holder{1}, holder{2}, false},
		"other types":                    {holder{1}, 1, false},
		"zero values":                    {holder{}, holder{}, false},
		"nothing":                        {nil, nil, false},
		"nothing and one":                {nil, one, false},
		"one and nothing":                {one, nil, false},
		"what cannot be compared":        {holder{[]int{1}}, holder{[]int{1}}, false},
		"one of two cannot be compared":  {holder{1}, holder{[]int{1}}, false},
		"the first cannot be compared":   {holder{[]int{1}}, holder{1}, false},
		"a slice, which is no place":     {[]int{1}, []int{1}, false},
		"a pointer that points to no-op": {(*holder)(nil), (*holder)(nil), false},
	} {
		if got := identical(c.a, c.b); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The core closes an observer without a mutex, so that the label may have come
// back by then.
func TestALabelThatIsClosedLateLeavesItsSuccessor(t *testing.T) {
	l := &exporting(t, 0).locks
	first, _ := l.observer("x").(*lock)
	other, _ := l.observer("y").(*lock)
	second, _ := l.observer("x").(*lock)
	if first.Close(); l.find("x") != second || l.find("y") != other {
		t.Error("the second has gone with the first")
	}
	if second.Close(); l.find("x") != nil || l.find("y") != other || len(l.by) != 1 {
		t.Errorf("%d labels are left", len(l.by))
	}
	other.Observe(context.Background(), catalog.Attempts, nil, 1) // no histogram
	if other.known.Load() {
		t.Error("the SDK has a histogram of a counter")
	}
}
