package registry

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/internal/lock"
	"github.com/leaderscope/leaderscope/redact"
)

// sweep folds a lock into its label as if others had joined.
func sweep(l *Lock) {
	b := l.label.Load()
	b.mu.Lock()
	defer b.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Idle(b.r.moment().Now)
	b.fold(l)
	b.leave(l)
}

func TestASharedLabelKeepsTheLocksOfWhichSomethingIsOpen(t *testing.T) {
	f := newFixture(10)
	var open []*Lock
	for i := range 10 {
		l := f.shared(fmt.Sprint("open-", i))
		f.win(l)
		open = append(open, l)
	}
	label := open[0].label.Load()
	name := 0
	enter := func() *Lock {
		name++
		l := f.shared(fmt.Sprint("idle-", name))
		f.lose(l, f.win(l))
		return l
	}
	first := enter()
	for label.count < minSweep-1 {
		enter()
	}
	if last := enter(); label.count != 11 || label.sweepAt != minSweep || !last.joined || first.joined {
		t.Fatalf("%d joined, the next sweep is at %d", label.count, label.sweepAt)
	}
	f.want(t, "folded", map[string]string{"*": fmt.Sprintf("acquired %d, active 10, shared", 10+name)})
	if first.Acquired != 0 {
		t.Errorf("a folded lock has counted %d", first.Acquired)
	}
	f.win(first)
	f.want(t, "joined again", map[string]string{"*": fmt.Sprintf("acquired %d, active 11, shared", 11+name)})
	for range 100 {
		open = append(open, f.shared(fmt.Sprint("open-", len(open))))
		f.win(open[len(open)-1])
	}
	if label.count != 111 || label.sweepAt != 2*(minSweep-1) { // the one that was idle is folded
		t.Errorf("%d joined, the next sweep is at %d", label.count, label.sweepAt)
	}
	joined := 0
	for l := label.locks; l != nil; l = l.next {
		if joined++; l.next != nil && l.next.prev != l {
			t.Fatal("the locks are not linked both ways")
		}
	}
	if joined != int(label.count) {
		t.Errorf("%d are linked, %d are counted", joined, label.count)
	}
}

func TestALabelKeepsWhatItsFoldedLocksSaid(t *testing.T) {
	f := newFixture(10)
	declare := func(name string, d Declared) *Lock {
		l, digest := f.Find(name)
		if l == nil {
			made := &Lock{}
			made.Prepare(name, &d)
			l, _ = f.Enter(digest, redact.Label{Text: "*", Shared: true}, created, made)
		}
		return l
	}
	run, hold := Use{Mode: catalog.ModeRun, Backend: "etcd", Family: "f"}, Use{Mode: catalog.ModeHold}
	a := declare("a", Declared{Use: run, Every: time.Minute, Params: lock.Params{Lease: 30 * time.Second, MaxLeaders: 1, Hidden: true}})
	b := declare("b", Declared{Use: hold, Every: time.Hour, Params: lock.Params{Lease: 20 * time.Second, MaxLeaders: 3, Hidden: true}})
	c := declare("c", Declared{Use: run, Every: time.Second, Params: lock.Params{Lease: time.Second, MaxLeaders: 2}})
	f.now = 5 * time.Second
	termOfA := f.win(a)
	f.now = 6 * time.Second
	f.lose(a, termOfA)
	termOfC := f.win(c)
	f.now = 6500 * time.Millisecond
	f.lose(c, termOfC)
	read := func() (got Reading) {
		f.Read(func(r *Reading) { got = *r; got.Uses = slices.Clone(r.Uses) })
		slices.SortFunc(got.Uses, func(a, b Use) int { return int(b.Mode) - int(a.Mode) })
		return got
	}
	want := read()
	summary := Summary{Every: time.Hour, MaxLeaders: 3, RenewalsSeen: true, Campaigns: true, Uses: []Use{hold, run}}
	if diff := cmp.Diff(summary, want.Summary); diff != "" {
		t.Error(diff)
	}
	if want.Acquired != 2 || want.LastWon != 6 || want.LastEnded != 6.5 || want.Lease != 30*time.Second || !want.LeaseSeen || !want.Created.Equal(created) {
		t.Errorf("read %+v", want)
	}
	for _, l := range []*Lock{b, c, a} {
		sweep(l)
		got := read()
		if got.Acquired != want.Acquired || got.LastWon != want.LastWon || got.LastEnded != want.LastEnded || got.Lease != want.Lease || !got.LeaseSeen {
			t.Errorf("after %s was folded: %+v", l.Owner, got)
		}
		if diff := cmp.Diff(summary, got.Summary); diff != "" {
			t.Errorf("after %s was folded: %s", l.Owner, diff)
		}
	}
}

func TestRenewalsAreSeenIfOneLockShowsThem(t *testing.T) {
	for _, hidden := range []bool{true, false} {
		var s, folded Summary
		s.add(&Declared{}, hidden)
		folded.merge(&s)
		if s.RenewalsSeen == hidden || folded.RenewalsSeen == hidden {
			t.Errorf("hidden %v: seen %v, folded %v", hidden, s.RenewalsSeen, folded.RenewalsSeen)
		}
		folded.merge(&Summary{RenewalsSeen: true, Every: 1, MaxLeaders: 1})
		if want := (Summary{RenewalsSeen: true, Campaigns: true, Every: 1, MaxLeaders: 1, Uses: []Use{{}}}); !cmp.Equal(want, folded) {
			t.Errorf("%+v", folded)
		}
	}
}

func TestANoticeIsGivenOnceForALockAndOnceForASharedLabel(t *testing.T) {
	f := newFixture(10)
	a, b, one, two := f.own("a"), f.own("b"), f.shared("one"), f.shared("two")
	for i, c := range []struct {
		lock *Lock
		what uint32
		due  bool
	}{{a, 1, true}, {a, 1, false}, {a, 2, true}, {a, 2, false}, {a, 1, false}, {b, 1, true}, {one, 1, true}, {two, 1, false}, {two, 2, true}, {one, 2, false}} {
		if got := c.lock.Say(c.what); got != c.due {
			t.Errorf("notice %d is due: %v", i, got)
		}
	}
}

func TestWhatIsDeclaredIsBoundedAndSharedByHandlesThatSayTheSame(t *testing.T) {
	f := newFixture(2)
	use := func(family, backend string) Declared { return Declared{Use: Use{Family: family, Backend: backend}} }
	first := f.Declare(&Declared{Use: Use{Family: "a", Backend: "x"}})
	for i, c := range []struct {
		in, want Declared
		same     bool
	}{
		{use("a", "x"), use("a", "x"), true},
		{use("b", "x"), use("b", "x"), false},
		{use("a", "x"), use("a", "x"), false},
		{use("c", "y"), use("overflow", "y"), false},
		{use("b", "z"), use("b", "overflow"), false},
		{use("", ""), use("", ""), false},
		{use("d", "d"), use("overflow", "overflow"), false},
	} {
		d := c.in
		got := f.Declare(&d)
		if *got != c.want || (got == first) != c.same {
			t.Errorf("declaration %d is %+v, shared %v", i, *got, got == first)
		}
	}
}

// A lock finds the label that its own became, however late it looks.
func TestALabelThatCollidedSendsItsLocksOn(t *testing.T) {
	f := newFixture(10)
	a := f.enter("a", redact.Label{Text: "x"})
	before := a.label.Load()
	f.enter("b", redact.Label{Text: "x"})
	now := a.label.Load()
	if current := before.lockCurrent(); current != now || before == now {
		t.Errorf("it became %s", current.text())
	}
	now.mu.Unlock()
	if before.read(&Reading{}, nil) {
		t.Error("a label that collided has a series")
	}
	if (&Label{r: f.Registry}).read(&Reading{}, nil) {
		t.Error("a label that has no lock yet has a series")
	}
	late := &Lock{}
	late.Prepare("late", &Declared{})
	late.label.Store(before)
	before.join(late)
	if !late.joined || late.label.Load() != now || now.count != 3 {
		t.Errorf("joined %v, %d locks", late.joined, now.count)
	}
	before.join(late)
	if now.count != 3 {
		t.Errorf("a lock has joined twice: %d locks", now.count)
	}
	elsewhere := f.own("elsewhere")
	sweep(elsewhere)
	if now.join(elsewhere); elsewhere.joined {
		t.Error("a lock of another label has joined")
	}
	elsewhere.Peek()
	elsewhere.Retire(f.at())
	elsewhere.Unlock()
	if elsewhere.label.Load().join(elsewhere); elsewhere.joined {
		t.Error("a forgotten lock has joined")
	}
}

func TestALockThatWasPeekedAtDoesNotJoinItsLabel(t *testing.T) {
	f := newFixture(10)
	l := f.shared("a")
	sweep(l)
	l.Peek()
	joined := l.joined
	l.Unlock()
	l.Lock()
	defer l.Unlock()
	if joined || !l.joined {
		t.Errorf("joined after a look: %v, after a change: %v", joined, l.joined)
	}
}
