package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// recorder makes observers that write down what they are told.
type recorder struct {
	events []string
	fails  string // where it panics
}

type watcher struct {
	of    *recorder
	label string
}

func (r *recorder) note(event string) {
	r.events = append(r.events, event)
	if r.fails != "" && strings.HasPrefix(event, r.fails) {
		panic(event)
	}
}

func (r *recorder) make(label string) Observer {
	r.note("make " + label)
	return &watcher{r, label}
}

func (w *watcher) Observe(ctx context.Context, m *catalog.Metric, _ []string, v float64) {
	if ctx == nil {
		panic("no context")
	}
	w.of.note(fmt.Sprintf("%s %s %v", w.label, m.Name(), v))
}

func (w *watcher) Close() { w.of.note("close " + w.label) }

// plain has no Close.
type plain struct{ seen int }

func (p *plain) Observe(context.Context, *catalog.Metric, []string, float64) { p.seen++ }

// observe has a lock observe something and hands it on.
func (f *fixture) observe(l *Lock) {
	l.Lock()
	l.Refused(catalog.Contended)
	f.deliver(l)
}

func TestObserversAreMadeForLabelsThatExistAndThoseToCome(t *testing.T) {
	f := newFixture(10)
	a := f.own("a")
	f.observe(a)
	one, two, bare := &recorder{}, &recorder{}, &plain{}
	detachOne := f.Attach(one.make)
	detachTwo := f.Attach(two.make)
	f.Attach(func(string) Observer { return nil })
	f.Attach(func(string) Observer { return bare })
	b := f.own("b")
	f.observe(a)
	f.observe(b)
	b.Lock()
	if box, observers := b.UnlockAndTake(); !box.Empty() || observers != nil {
		t.Error("there is something to hand on although nothing was observed")
	}
	seen := []string{"make a", "make b", "a leader_acquire_duration_seconds 0", "b leader_acquire_duration_seconds 0"}
	for name, r := range map[string]*recorder{"one": one, "two": two} {
		if diff := cmp.Diff(seen, r.events); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	detachOne()
	detachOne()
	f.observe(a)
	f.own("c")
	slices.Sort(one.events[4:])
	if diff := cmp.Diff(append(slices.Clone(seen), "close a", "close b"), one.events); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(append(slices.Clone(seen), "a leader_acquire_duration_seconds 0", "make c"), two.events); diff != "" {
		t.Error(diff)
	}
	detachTwo()
	if bare.seen != 3 || f.faults != 0 {
		t.Errorf("an observer without Close saw %d, %d faults", bare.seen, f.faults)
	}
	if a.Outbox == nil {
		t.Error("an observer is left, and nothing is kept for it")
	}
}

func TestWithoutObserversNothingIsKeptForThem(t *testing.T) {
	f := newFixture(10)
	a := f.own("a")
	detach := f.Attach((&recorder{}).make)
	if a.Outbox == nil {
		t.Error("nothing is kept for an observer")
	}
	detach()
	a.Lock()
	a.Refused(catalog.Contended)
	if box, observers := a.UnlockAndTake(); a.Outbox != nil || !box.Empty() || observers != nil {
		t.Error("something is kept for no observer")
	}
}

func TestAPanicOfAnObserverIsCountedAndHarmsNoOther(t *testing.T) {
	for where, faults := range map[string]int{"make": 1, "a ": 1, "close": 1, "never": 0} {
		f := newFixture(10)
		broken, well := &recorder{fails: where}, &recorder{}
		detach := f.Attach(broken.make)
		f.Attach(well.make)
		a := f.own("a")
		f.observe(a)
		detach()
		f.Forget(a)
		if diff := cmp.Diff([]string{"make a", "a leader_acquire_duration_seconds 0", "close a"}, well.events); diff != "" {
			t.Errorf("%s: %s", where, diff)
		}
		if f.faults != faults {
			t.Errorf("%s: %d faults", where, f.faults)
		}
	}
}
