package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/internal/lock"
	"github.com/leaderscope/leaderscope/redact"
)

// fixture is a registry with a clock that stands still until it is moved, and
// what the hooks were told.
type fixture struct {
	*Registry
	now      time.Duration
	families []string // of the first name beyond the cap
	collided []string
	faults   int
}

func newFixture(maxLabels int) *fixture {
	f := &fixture{}
	f.Registry = New(maxLabels, Hooks{
		Moment:     func() lock.Moment { return lock.Moment{Now: f.at(), Wall: time.Unix(0, 0).Add(f.now)} },
		Overflowed: func(family string) { f.families = append(f.families, family) },
		Collided:   func(shown string) { f.collided = append(f.collided, shown) },
		Fault:      func() { f.faults++ },
		Overran:    func(*Lock) {},
	})
	return f
}

func (f *fixture) at() lock.Instant { return lock.Origin.Add(f.now) }

var created = time.Unix(7, 0)

// enter finds or enters a name as the middleware does.
func (f *fixture) enter(name string, label redact.Label) *Lock {
	l, d := f.Find(name)
	if l == nil {
		made := &Lock{}
		made.Prepare(name, &Declared{})
		l, _ = f.Enter(d, label, created, made)
	}
	return l
}

func (f *fixture) own(name string) *Lock { return f.enter(name, redact.Label{Text: name}) }

func (f *fixture) shared(name string) *Lock {
	return f.enter(name, redact.Label{Text: "*", Family: "all", Shared: true})
}

// win opens a term of a lock.
func (f *fixture) win(l *Lock) *lock.Term {
	t := &lock.Term{}
	l.Lock()
	defer f.deliver(l)
	l.Flight.Enter(f.at())
	l.Win(t, nil, f.at(), &lock.Won{Now: f.at(), Token: 3, Fenced: true})
	return t
}

func (f *fixture) lose(l *Lock, t *lock.Term) {
	l.Lock()
	defer f.deliver(l)
	l.Lost(t, f.at(), lock.Gone)
}

// deliver ends a change of a lock.
func (f *fixture) deliver(l *Lock) {
	box, observers := l.UnlockAndTake()
	var none context.Context
	f.Deliver(none, l, box, observers)
}

// series is what is read of each label, in words.
func (f *fixture) series(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	var order []string
	open := f.Read(func(r *Reading) {
		text := fmt.Sprintf("acquired %d, active %d", r.Acquired, r.Active)
		if r.Shared {
			text += ", shared"
		}
		if r.Fenced {
			text += fmt.Sprintf(", token %d", r.Token)
		}
		all[r.Label] = text
		order = append(order, r.Label)
	})
	if !open || !slices.IsSorted(order) {
		t.Errorf("read %v in this order: %v", open, order)
	}
	return all
}

func (f *fixture) want(t *testing.T, when string, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, f.series(t)); diff != "" {
		t.Errorf("%s: %s", when, diff)
	}
}

func TestANameHasOneLock(t *testing.T) {
	for kind, enter := range map[string]func(*fixture, string) *Lock{"a label of its own": (*fixture).own, "a shared label": (*fixture).shared} {
		f := newFixture(10)
		a, b := enter(f, "a"), enter(f, "b")
		if a == b || enter(f, "a") != a || enter(f, "b") != b {
			t.Errorf("%s: two names have one lock, or one has two", kind)
		}
		other := &Lock{}
		other.Prepare(nil, &Declared{})
		if l, first := f.Enter(a.name, redact.Label{Text: "c"}, created, other); l != a || first || a.LabelText() == "c" {
			t.Errorf("%s: a name that is there is entered again: %v, under %s", kind, first, a.LabelText())
		}
		made := &Lock{}
		made.Prepare(nil, &Declared{})
		if l, first := f.Enter(f.digests.of("c", f.digests.firstOf("c")), redact.Label{Text: "c"}, created, made); l != made || !first {
			t.Errorf("%s: a new name is not entered: %v", kind, first)
		}
		if a.Owner != "a" || a.Declared() == nil {
			t.Errorf("%s: the lock has owner %v", kind, a.Owner)
		}
	}
}

func TestNamesBeyondTheCapShareOneLabelUntilThereIsRoom(t *testing.T) {
	f := newFixture(2)
	a, b := f.own("a"), f.own("b")
	family := func(name string) *Lock { return f.enter(name, redact.Label{Text: name, Family: "f-" + name}) }
	c, d := family("c"), family("d")
	termOfC := f.win(c)
	f.lose(d, f.win(d))
	f.win(a)
	f.lose(b, f.win(b))
	f.want(t, "beyond the cap", map[string]string{
		"a": "acquired 1, active 1, token 3", "b": "acquired 1, active 0, token 3", "overflow": "acquired 2, active 1, shared",
	})
	if f.Counts() != (Counts{Overflows: 2}) || !slices.Equal(f.families, []string{"f-c"}) {
		t.Errorf("counts %+v, told of %v", f.Counts(), f.families)
	}
	if family("d") != d || d.LabelText() != "overflow" {
		t.Errorf("without room a name moves to %s", d.LabelText())
	}

	f.Forget(b)
	if family("c") != c || c.LabelText() != "overflow" {
		t.Errorf("a lock of which something is open moves to %s", c.LabelText())
	}
	if family("d") != d || d.LabelText() != "d" {
		t.Errorf("with room a name stays in %s", d.LabelText())
	}
	f.win(d)
	f.want(t, "with room again", map[string]string{
		"a": "acquired 1, active 1, token 3", "d": "acquired 1, active 1, token 3", "overflow": "acquired 2, active 1, shared",
	})
	if l, _ := f.Find("c"); l != c {
		t.Error("without room a name is entered again")
	}
	f.lose(c, termOfC)
	if family("c") != c || c.LabelText() != "overflow" {
		t.Errorf("the room is taken, and a name moves to %s", c.LabelText())
	}
	f.Forget(a)
	if family("c"); c.LabelText() != "c" {
		t.Errorf("with room a name stays in %s", c.LabelText())
	}
	if l := f.enter("d", redact.Label{Text: "e"}); l != d || d.LabelText() != "d" {
		t.Errorf("a name that has a label moves to %s", d.LabelText())
	}
	if f.Counts() != (Counts{Overflows: 2}) {
		t.Errorf("counts %+v", f.Counts())
	}
	f.Forget(c)
	f.Forget(d)
	f.own("p")
	f.own("q")
	last := family("last")
	if _, remaining := f.labels["overflow"]; !remaining || last.LabelText() != "overflow" || len(f.labels) != 3 {
		t.Errorf("%d labels, the last name is under %s", len(f.labels), last.LabelText())
	}
	if f.Forget(last); len(f.labels) != 2 {
		t.Errorf("%d labels are left of two names", len(f.labels))
	}
}

func TestAnOverflowedNameJoinsALabelThatIsThere(t *testing.T) {
	f := newFixture(1)
	label := redact.Label{Text: "x"}
	a := f.enter("a", label)
	other := f.own("other")
	f.Forget(a)
	moved := f.enter("other", redact.Label{Text: "x"})
	if moved != other || other.LabelText() != "x" {
		t.Errorf("it is under %s", other.LabelText())
	}
	f.want(t, "moved", map[string]string{"x": "acquired 0, active 0", "overflow": "acquired 0, active 0, shared"})
	f.Forget(other)
	f.want(t, "forgotten", map[string]string{"overflow": "acquired 0, active 0, shared"})
}

func TestANameThatIsRefusedALabelByAFullRegistryIsCountedEachTime(t *testing.T) {
	f := newFixture(0)
	for i := range 3 {
		f.own(fmt.Sprint(i))
	}
	f.enter("named so", redact.Label{Text: "overflow", Shared: true})
	if f.Counts().Overflows != 3 || len(f.families) != 1 {
		t.Errorf("%d overflows, told of %d", f.Counts().Overflows, len(f.families))
	}
}

func TestALabelOfTwoNamesBecomesAShare(t *testing.T) {
	f := newFixture(10)
	watch := &recorder{}
	f.Attach(watch.make)
	label := redact.Label{Text: "x"}
	a, again := f.enter("a", label), f.enter("a", label)
	f.win(a)
	if a != again || f.Counts().Collisions != 0 {
		t.Error("one name collides with itself")
	}
	b := f.enter("b", label)
	f.win(b)
	c := f.enter("c", label)
	f.want(t, "two names", map[string]string{"x*": "acquired 2, active 2, shared"})
	if f.Counts() != (Counts{Collisions: 1}) || !slices.Equal(f.collided, []string{"x*"}) {
		t.Errorf("counts %+v, told of %v", f.Counts(), f.collided)
	}
	observed := " " + catalog.AcquireDuration.Name() + " 0"
	if diff := cmp.Diff([]string{"make x", "x" + observed, "make x*", "close x", "x*" + observed}, watch.events); diff != "" {
		t.Error(diff)
	}
	for _, l := range []*Lock{a, b, c} {
		if l.LabelText() != "x*" {
			t.Errorf("a lock is under %s", l.LabelText())
		}
	}
	for _, l := range []*Lock{b, c, a} {
		f.Forget(l)
	}
	f.want(t, "all forgotten", map[string]string{})
	f.enter("d", label)
	f.want(t, "one name again", map[string]string{"x": "acquired 0, active 0"})
	if len(f.renamed) != 0 {
		t.Errorf("%d labels are still renamed", len(f.renamed))
	}
}

func TestALabelOfTwoNamesJoinsTheShareThatIsThere(t *testing.T) {
	f := newFixture(10)
	f.win(f.enter("family", redact.Label{Text: "x*", Shared: true}))
	f.enter("other", redact.Label{Text: "y"})
	f.win(f.enter("a", redact.Label{Text: "x"}))
	f.win(f.enter("b", redact.Label{Text: "x"}))
	f.want(t, "joined", map[string]string{"x*": "acquired 3, active 3, shared", "y": "acquired 0, active 0"})
	first := f.enter("c", redact.Label{Text: "y"})
	f.Forget(first)
	f.want(t, "two shares", map[string]string{"x*": "acquired 3, active 3, shared", "y*": "acquired 0, active 0, shared"})
	if len(f.renamed) != 2 || f.Counts().Collisions != 2 {
		t.Errorf("%d renamed, %d collisions", len(f.renamed), f.Counts().Collisions)
	}
}

func TestASharedLabelCollidesWithOneOfASingleName(t *testing.T) {
	f := newFixture(10)
	f.enter("a", redact.Label{Text: "x"})
	f.enter("b", redact.Label{Text: "x", Shared: true})
	f.want(t, "collided", map[string]string{"x*": "acquired 0, active 0, shared"})
}

func TestTheFormOfASharedLabelFits(t *testing.T) {
	fits, letters := strings.Repeat("n", redact.MaxLabelSize), strings.Repeat("ü", redact.MaxLabelSize/2)
	for text, want := range map[string]string{
		"": "*", "x": "x*", fits[1:]: fits[1:] + "*", fits: fits[1:] + "*", letters: letters[2:] + "*",
	} {
		if got := Wildcarded(text); got != want {
			t.Errorf("%q of %d bytes becomes %q", text, len(text), got)
		}
	}
}

func TestAForgottenLockLeavesItsCountsInASharedLabelOnly(t *testing.T) {
	f := newFixture(10)
	watch := &recorder{}
	f.Attach(watch.make)
	own, one, two := f.own("own"), f.shared("one"), f.shared("two")
	f.win(own)
	f.win(one)
	f.now = time.Second
	watch.events = nil
	f.Forget(one)
	f.Forget(one)
	f.Forget(own)
	f.want(t, "forgotten", map[string]string{"*": "acquired 1, active 0, shared"})
	if diff := cmp.Diff([]string{"close own"}, watch.events); diff != "" {
		t.Error(diff)
	}
	if again := f.own("own"); again == own || again.Retired() {
		t.Error("a name that was forgotten has its lock of before")
	}
	f.Forget(two)
	if diff := cmp.Diff([]string{"close own", "make own", "close *"}, watch.events); diff != "" {
		t.Error(diff)
	}
	f.shared("three")
	f.want(t, "come back", map[string]string{"*": "acquired 0, active 0, shared", "own": "acquired 0, active 0"})
}

func TestWhatAForgottenLockHadOpenIsObserved(t *testing.T) {
	f := newFixture(10)
	watch := &recorder{}
	f.Attach(watch.make)
	l := f.own("a")
	l.Lock()
	l.Flight.Enter(f.at())
	l.Unlock()
	f.now = 2 * time.Second
	f.Forget(l)
	if diff := cmp.Diff([]string{"make a", "a leader_acquire_duration_seconds 2", "close a"}, watch.events); diff != "" {
		t.Error(diff)
	}
}

func TestAClosedRegistryForgetsItsLocksAndTakesNoOther(t *testing.T) {
	f := newFixture(1)
	watch := &recorder{}
	f.Attach(watch.make)
	a, b := f.own("a"), f.shared("b")
	swept := f.shared("swept")
	sweep(swept)
	if f.Closed() {
		t.Error("closed before it was")
	}
	var forgotten []string
	f.Close(func(l *Lock) { forgotten = append(forgotten, l.Owner.(string)); f.Forget(l) })
	slices.Sort(forgotten)
	if diff := cmp.Diff([]string{"a", "b"}, forgotten); diff != "" {
		t.Error(diff)
	}
	slices.Sort(watch.events)
	if diff := cmp.Diff([]string{"close a", "close overflow", "make a", "make overflow"}, watch.events); diff != "" {
		t.Error(diff)
	}
	watch.events = nil
	late := f.own("late")
	if !f.Closed() || !late.Retired() || !a.Retired() || !b.Retired() {
		t.Errorf("closed %v, retired %v %v %v", f.Closed(), late.Retired(), a.Retired(), b.Retired())
	}
	entered := &Lock{}
	entered.Prepare(nil, &Declared{})
	if l, first := f.Enter(Digest{1, 2}, redact.Label{Text: "late"}, created, entered); l != entered || !first || !l.Retired() {
		t.Errorf("entered %v, retired %v", first, l.Retired())
	}
	if f.Read(func(*Reading) { t.Error("a series is left") }) {
		t.Error("a closed registry is read")
	}
	swept.Lock()
	if swept.Unlock(); !swept.Retired() {
		t.Error("a lock that was folded comes back")
	}
	f.Close(func(*Lock) { t.Error("a lock is forgotten again") })
	if len(watch.events) != 0 {
		t.Errorf("observers: %v", watch.events)
	}
}
