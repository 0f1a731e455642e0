package prom

import (
	"context"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

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

func TestEachValueOfALabelledHistogramIsObservedByItself(t *testing.T) {
	var labelled []*catalog.Metric
	for _, m := range catalog.All() {
		if m.Kind() == catalog.Histogram && m.NumLabels() > 0 {
			labelled = append(labelled, m)
		}
	}
	if len(labelled) == 0 {
		t.Fatal("the catalogue has no histogram with a label")
	}
	for form, native := range map[Histograms]bool{Classic: false, Native: true, ClassicAndNative: true} {
		m, err := instrument.New()
		if err != nil {
			t.Fatal(err)
		}
		c := newCollector(nil, m, config{histograms: form})
		o, _ := c.observer("x").(*observer)
		if o == nil { // classic histograms need none
			o = &observer{of: c, label: "x"}
		}
		for _, metric := range labelled {
			first, second, never := "a", "b", "c"
			for _, value := range []string{first, second, first} {
				o.Observe(context.Background(), metric, []string{value}, 2)
			}
			for value, want := range map[string]uint64{first: 2, second: 1, never: 0} {
				if got := observations(t, o.native(metric, value)); native && got != want || !native && got != 0 {
					t.Errorf("%v: %s of %q has %d observations, want %d", form, metric.Name(), value, got, want)
				}
			}
		}
	}
}

// observations are those of a native histogram; 0 for none.
func observations(t *testing.T, m prometheus.Metric) uint64 {
	t.Helper()
	if m == nil {
		return 0
	}
	var out dto.Metric
	if err := m.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.GetHistogram().GetSampleCount()
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
