package instrument

import (
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/internal/lock"
)

// FencingCheck is the decision of a guard in front of a store about one write.
type FencingCheck struct {
	// Result is counted; a value outside of the set records nothing.
	Result catalog.FencingResult
	// Highest is the highest token that the guard has seen, including that of this
	// write, if Seen.
	Highest uint64
	Seen    bool
}

// Guards records that a store in this process checks the fencing tokens of the
// lock: leader_fencing_checks_total exists with value 0 from then on. A process
// that only guards a store, and does not campaign, makes the handle with
// WatchOnly. The guards of package instrument/fence call it themselves.
func (e *Election) Guards() {
	if e == nil {
		return
	}
	e.lock.Lock()
	e.lock.Guard()
	e.lock.Unlock()
}

// ObserveFencing records one check of a guard. It changes none of the series
// about this process's own terms, reads no clock and allocates nothing.
func (e *Election) ObserveFencing(c FencingCheck) {
	if e == nil || int(c.Result) >= catalog.FencingResults {
		return
	}
	e.lock.Lock()
	e.lock.Checked(lock.Check{Result: c.Result, Highest: c.Highest, Seen: c.Seen})
	e.lock.Unlock()
}
