package query

import (
	"slices"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// jobLabel is the label of the scope that tells the deployments of a service apart.
const jobLabel = "job"

// SameLock matches a lock across the jobs of the scope: one lock has one label,
// family and backend. If another job leads, the lock has a leader: of blue and green,
// or of a canary and its stable release, only one leads (B14).
func (s Scope) SameLock() string {
	if !s.severalJobs() {
		return On(s.Labels)
	}
	same := slices.DeleteFunc(slices.Clone(s.Labels), func(l string) bool { return l == jobLabel })
	for _, l := range catalog.ElectorInfo.Labels() {
		same = append(same, l.Name())
	}
	return On(same)
}

func (s Scope) severalJobs() bool { return slices.Contains(s.Labels, jobLabel) }

// Candidates selects the replicas that campaign for the locks of a set of series.
func (s Scope) Candidates(set Expr) Expr { return s.Of(s.HoldInfo(), set) }

// Led keeps the replicas that hold a lock.
func (s Scope) Led() Expr { return Op(s.Metric(catalog.Active), ">", "0") }

// Leaderless keeps the locks that a replica should hold and none does, in any job. In
// run mode a lock that no replica holds is the normal case.
func (f Facts) Leaderless() Expr {
	switch {
	case !f.severalJobs():
		return f.unheld()
	case f.Recorded:
		return Op(f.unheld(), "unless", f.LedElsewhere())
	}
	return f.Without(f.unheld(), f.ledInAnyJob())
}

// LedElsewhere keeps the locks that no replica of the job holds and a replica of
// another job does. The alert for locks without a leader is silent about them.
func (f Facts) LedElsewhere() Expr {
	if f.Recorded {
		return f.recorded(RecordedLedElsewhere)
	}
	return f.Of(f.free(), f.ledInAnyJob())
}

// OtherLeaders keeps the replicas of other jobs that lead these locks.
func (f Facts) OtherLeaders() Expr {
	any := f.anyJob()
	leads := Op(any.ByHolder("max", any.Metric(catalog.Active)), ">", Number(0))
	return any.Of(leads, Op(any.HoldInfo(), "and "+f.SameLock(), f.Of(f.HoldInfo(SingleLock()), f.free())))
}

// unheld keeps the locks that replicas of the job campaign for and none holds.
func (f Facts) unheld() Expr {
	if f.Recorded {
		return Op(f.Mode(catalog.ModeHold), "==", Number(0))
	}
	return f.Held(f.free())
}

// free keeps the locks that no replica of the job holds.
func (f Facts) free() Expr { return Op(f.Active(), "==", Number(0)) }

// ledInAnyJob selects the replicas that campaign for locks that are led. Of a label
// that several locks share, another job may lead another lock.
func (f Facts) ledInAnyJob() Expr {
	any := f.anyJob()
	return Op(f.HoldInfo(SingleLock()), "and "+f.SameLock(), any.Candidates(any.Led()))
}

// anyJob is the scope without the choice of a job.
func (f Facts) anyJob() Scope {
	s := f.Scope
	s.Matchers = slices.DeleteFunc(slices.Clone(s.Matchers), func(m Matcher) bool { return m == f.JobMatcher })
	return s
}
