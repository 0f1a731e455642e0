package registry

import (
	"fmt"
	"math/bits"
	"runtime"
	"testing"
	"time"
)

func named(first uint64) *Lock { return &Lock{name: Digest{first: first}} }

func TestTableFindsWhatIsThereAndNothingElse(t *testing.T) {
	table := newTable(0)
	locks := map[uint64]*Lock{}
	// Of sixteen slots these begin at the last, the first and the second one.
	for _, first := range []uint64{31, 63, 1, 33, 3, 95} {
		locks[first] = named(first)
		table.put(locks[first])
	}
	check := func(when string, absent ...uint64) {
		t.Helper()
		for first, l := range locks {
			if table.find(first) != l {
				t.Errorf("%s: name %d is not found", when, first)
			}
		}
		for _, first := range absent {
			if table.find(first) != nil {
				t.Errorf("%s: name %d is found", when, first)
			}
		}
	}
	check("full", 5, 35, 65, 127)
	for _, first := range []uint64{63, 1} {
		table.remove(locks[first])
		delete(locks, first)
	}
	check("some removed", 63, 1, 5)
	table.remove(named(33))  // another lock of that name
	table.remove(named(127)) // a name that is not there
	check("what is not there removed", 63, 1)
	locks[63] = named(63)
	table.put(locks[63])
	check("one put again", 1)
	if table.used != 7 || table.live != 5 {
		t.Errorf("%d used, %d live", table.used, table.live)
	}
	table = table.rebuilt()
	check("rebuilt", 1)
	if table.used != 5 || table.live != 5 {
		t.Errorf("rebuilt: %d used, %d live", table.used, table.live)
	}
}

func TestATableIsAPowerOfTwoAndAtMostAThirdIsFilledAtFirst(t *testing.T) {
	for live, want := range map[int]int{0: 16, 1: 16, 5: 16, 6: 32, 10: 32, 11: 64, 1000: 4096} {
		if got := len(newTable(live).slots); got != want {
			t.Errorf("%d locks: %d slots, want %d", live, got, want)
		}
	}
}

func TestTheTableGrowsWhenHalfIsFilledAndForgetsWhatWasRemoved(t *testing.T) {
	f := newFixture(1 << 20)
	slots := func() int { return len(f.names.kept.Load().slots) }
	var locks []*Lock
	for i := range 1000 {
		locks = append(locks, f.own(fmt.Sprint(i)))
		if n := slots(); bits.OnesCount(uint(n)) != 1 || (i == 7 && n != 16) || (i == 8 && n != 32) || i+1 > n/2 {
			t.Fatalf("%d slots for %d locks", n, i+1)
		}
	}
	for i, l := range locks {
		if found, _ := f.Find(fmt.Sprint(i)); found != l {
			t.Fatalf("name %d is not found", i)
		}
		f.Forget(l)
		if found, _ := f.Find(fmt.Sprint(i)); found != nil {
			t.Fatalf("name %d is found after it was forgotten", i)
		}
	}
	for i := range 10_000 {
		f.Forget(f.own(fmt.Sprint("later-", i)))
	}
	if slots() > 32 {
		t.Errorf("%d slots for no lock", slots())
	}
}

// A lent name does not keep its lock alive, and goes with it.
func TestANameOfASharedLabelGoesWithItsLock(t *testing.T) {
	f := newFixture(10)
	kept := f.shared("kept")
	f.win(kept)
	for i := range 10 * minSweep {
		f.shared(fmt.Sprint(i))
	}
	lent := func() int {
		f.names.mu.RLock()
		defer f.names.mu.RUnlock()
		return len(f.names.lent)
	}
	deadline := time.Now().Add(20 * time.Second)
	for lent() > minSweep && time.Now().Before(deadline) {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if n := lent(); n > minSweep {
		t.Errorf("%d names are left", n)
	}
	if found, _ := f.Find("kept"); found != kept {
		t.Error("the name of a lock that is open is gone")
	}
	f.Forget(kept)
	if found, _ := f.Find("kept"); found != nil {
		t.Error("a forgotten name is found")
	}
}

func TestALentNameIsForgottenForItsOwnLockOnly(t *testing.T) {
	f := newFixture(10)
	l := f.shared("a")
	f.names.forgetLent(l.name, named(l.name.first))
	if found, _ := f.Find("a"); found != l {
		t.Error("another lock's end takes the name away")
	}
	f.names.forgetLent(Digest{1, 2}, l)
	f.names.forgetLent(l.name, l)
	if found, _ := f.Find("a"); found != nil {
		t.Error("the name is still there")
	}
}

func TestADigestIsTheNamesAlone(t *testing.T) {
	d, other := newDigester(), newDigester()
	seen := map[uint64]bool{}
	for i := range 1000 {
		name := fmt.Sprint(i)
		first := d.firstOf(name)
		if first%2 == 0 || first != d.firstOf(name) || first == other.firstOf(name) || seen[first] {
			t.Fatalf("the digest of name %d is %x", i, first)
		}
		seen[first] = true
		if full := d.of(name, first); full.first != first || full.second == 0 || full.second == first || full != d.of(name, first) {
			t.Fatalf("the digest of name %d is %x", i, full)
		}
	}
}
