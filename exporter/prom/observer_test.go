package prom

import (
	"context"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// The core closes an observer without a mutex, so that the label may have come
// back by then.
func TestAnObserverThatIsClosedLateLeavesItsSuccessor(t *testing.T) {
	for _, form := range []Histograms{Native, ClassicAndNative} {
		m, err := instrument.New()
		if err != nil {
			t.Fatal(err)
		}
		c := newCollector(nil, m, config{histograms: form})
		first, _ := c.observer("x").(*observer)
		other, _ := c.observer("y").(*observer)
		second, _ := c.observer("x").(*observer)
		if first.Close(); c.locks.find("x") != second || c.locks.find("y") != other {
			t.Errorf("%v: the second observer has gone with the first", form)
		}
		first.Observe(context.Background(), catalog.AcquireDuration, nil, 1)
		if second.native(catalog.AcquireDuration, "") != nil {
			t.Errorf("%v: the second observer has what the first was told", form)
		}
		if second.Close(); c.locks.find("x") != nil || c.locks.find("y") != other {
			t.Errorf("%v: an observer is left after its label", form)
		}
		if len(c.locks.by) != 1 {
			t.Errorf("%v: %d labels are left", form, len(c.locks.by))
		}
	}
}

func TestOnlyNativeHistogramsHaveVectors(t *testing.T) {
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	histograms := 0
	for _, metric := range catalog.All() {
		if metric.Kind() == catalog.Histogram {
			histograms++
		}
	}
	for form, want := range map[Histograms]int{Classic: 0, Native: histograms, ClassicAndNative: histograms} {
		if got := len(newCollector(nil, m, config{histograms: form}).vectors); got != want {
			t.Errorf("%v: %d vectors, want %d", form, got, want)
		}
	}
}

func TestThePairsOfASeriesAreInTheOrderOfTheirNames(t *testing.T) {
	for metric, sources := range newLabels(prometheus.Labels{"zz": "1", "aa": "2", "lock": "3"}) {
		var names []string
		for _, s := range sources {
			names = append(names, s.name)
		}
		if !slices.IsSorted(names) || len(names) != 3+len(labelNames(metric)) {
			t.Errorf("%s has the pairs %v", metric.Name(), names)
		}
	}
}

func TestNoObserverHasNothing(t *testing.T) {
	var none *observer
	none.Observe(context.Background(), catalog.AcquireDuration, nil, 1)
	if none.native(catalog.AcquireDuration, "") != nil || none.exemplars(catalog.AcquireDuration) != nil {
		t.Error("it has something")
	}
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	some, _ := newCollector(nil, m, config{histograms: Native}).observer("x").(*observer)
	some.Observe(context.Background(), catalog.Attempts, nil, 1) // no histogram
	if some.native(catalog.Attempts, "") != nil || some.exemplars(catalog.Attempts) != nil {
		t.Error("there is something of a counter")
	}
}
