package electtest

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
)

// promises is what both suites say of an elector.
type promises struct {
	options        []instrument.ElectionOption
	lease          time.Duration
	virtual        bool
	fenced         bool
	renewsItself   bool
	hidesSendTimes bool
	hidesRenewals  bool
	remaining      func(t testing.TB, lock string) (time.Duration, bool)
}

// patience is added to each bound. On the wall clock it is generous: a loaded
// machine is no fault of an elector.
func (p promises) patience() time.Duration {
	switch {
	case !p.virtual:
		return 20 * time.Second
	case p.lease > 0:
		return p.lease / 2
	default:
		return 10 * time.Second
	}
}

// moment is how long a contender tries for a lock that it must not win.
func (p promises) moment() time.Duration {
	if p.lease == 0 {
		return time.Second
	}
	return min(time.Second, p.lease/4)
}

// step is how long to sleep between two readings.
func (p promises) step() time.Duration {
	if p.lease == 0 {
		return 10 * time.Millisecond
	}
	return p.lease / 20
}

// checkRun is one run of one check under a lock of its own.
type checkRun struct {
	testing.TB
	promises
	lock string

	mu       sync.Mutex
	failures []string
	undo     []func()
	terms    []*instrument.Term
	attempts []*attempt
	rivals   []<-chan struct{} // closed when they have stopped
}

var locks atomic.Int64

// tries is how often a check is made that cannot be judged.
const tries = 3

// try runs a check and reports what it found. What fails while the process
// stands still proves nothing, and is tried again.
func (p promises) try(t *testing.T, run func(*checkRun)) {
	if p.virtual {
		synctest.Test(t, func(t *testing.T) { report(t, p.once(t, run)) })
		return
	}
	failures, judged := judge(func() []string { return p.once(t, run) }, p.standsStill)
	if !judged {
		t.Skipf("not judged: in each of %d tries this process stood still for a quarter of the lease; use a longer lease or a less loaded machine", tries)
	}
	report(t, failures)
}

// judge makes a check until it passes, or fails while the process ran; watch
// begins to look whether it does.
func judge(once func() []string, watch func() (stood func() bool)) (failures []string, judged bool) {
	for range tries {
		stood := watch()
		failures = once()
		if !stood() || len(failures) == 0 {
			return failures, true
		}
	}
	return nil, false
}

func report(t testing.TB, failures []string) {
	t.Helper()
	for _, f := range failures {
		t.Error(f)
	}
}

// once runs a check and returns its failures.
func (p promises) once(t testing.TB, run func(*checkRun)) []string {
	tr := &checkRun{TB: t, promises: p, lock: fmt.Sprintf("leaderscope-conformance-%d-%d", time.Now().UnixNano(), locks.Add(1))}
	defer tr.clean()
	func() {
		defer func() {
			if r := recover(); r != nil && r != any(stopped{}) {
				panic(r)
			}
		}()
		run(tr)
	}()
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.failures
}

// standsStill watches until the returned function is called, which reports
// whether the process stood still for a quarter of the lease.
func (p promises) standsStill() (stood func() bool) {
	if p.lease == 0 {
		return func() bool { return false }
	}
	done, answer := make(chan struct{}), make(chan bool, 1)
	go func() {
		still := false
		for last := time.Now(); ; {
			select {
			case <-done:
				answer <- still
				return
			case <-time.After(p.lease / 50):
			}
			now := time.Now()
			still = still || now.Sub(last) > p.lease/4
			last = now
		}
	}()
	return func() bool { close(done); return <-answer }
}

// stopped ends a check that cannot continue.
type stopped struct{}

// broke notes that the elector breaks a rule.
func (t *checkRun) broke(r rule, format string, args ...any) {
	detail := fmt.Sprintf(format, args...)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures = append(t.failures, string(r)+"\n"+strings.TrimRight(detail, "\n"))
}

// stop notes that the elector breaks a rule, and ends the check. It is called
// from the goroutine of the check.
func (t *checkRun) stop(r rule, format string, args ...any) {
	t.broke(r, format, args...)
	panic(stopped{})
}

// later has f called when the check is over, before its terms are released.
func (t *checkRun) later(f func()) { t.undo = append(t.undo, f) }
