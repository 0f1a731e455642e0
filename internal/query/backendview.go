package query

import (
	"slices"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Two kinds of processes report the state of a backend: a witness, which campaigns
// for the lock, and an observer, which does not and has its own job and namespace.

// BackendLabel and HolderLabel are labels of these reports.
const (
	BackendLabel = "backend"
	HolderLabel  = "holder"
)

// AnyReporter returns the scope labels that identify a lock for any reporter.
func (s Scope) AnyReporter() []string {
	return slices.DeleteFunc(slices.Clone(s.Labels), func(l string) bool { return slices.Contains(s.Reporter, l) })
}

// BackendLabels identify a lock across several backends.
func (s Scope) BackendLabels() []string { return append(slices.Clone(s.Labels), BackendLabel) }

// OfAnyReporter matches locks, and further labels, for any reporter; the operator is
// and, or unless.
func (s Scope) OfAnyReporter(operator string, e, set Expr, more ...string) Expr {
	return Op(e, operator+" "+On(append(s.AnyReporter(), more...)), set)
}

// Free keeps the locks for which the backend names no live holder. If any of several
// reporters reports a holder, the lock is held: the others may have older data.
func (s Scope) Free(matchers ...Matcher) Expr {
	return Op(By("max", s.BackendLabels(), s.Metric(catalog.BackendHeld, matchers...)), "==", Number(0))
}

// HeldWithin keeps the reports of locks that had a holder within a window. A record
// that never had a holder may belong to a program that is gone.
func (s Scope) HeldWithin(window string, matchers ...Matcher) Expr {
	return Op(Over("max_over_time", s.Metric(catalog.BackendHeld, matchers...), window), ">", Number(0))
}

// Impostors returns the processes that lead while the backend names another holder.
// Process and backend must have agreed on the label of a candidate within the
// lookback. A claim ends when its lease end has passed and has not moved for still.
func (s Scope) Impostors(lookback, still string) Expr {
	one := SingleLock()
	holder := one
	holder.Label = HolderLabel
	identity, named := s.Metric(catalog.IdentityInfo, one, holder), s.Metric(catalog.BackendHolderInfo, one, holder)

	expiry := s.Metric(catalog.LeaseExpiry, one)
	// A collector repeats the last samples of a dead leader (I8).
	dead := Op(Op(expiry, "==", Offset(expiry, still)), "<", Call("time"))
	onReplica := On(s.HolderLabels())
	claims := Op(s.Metric(catalog.Active, one), ">", Number(0))
	leads := Op(claims, "unless "+onReplica, dead)
	// Group electors have several holders, but the backend names one (I5).
	suspects := s.Without(Op(identity, "and "+onReplica, leads), Op(s.Metric(catalog.MaxLeaders, one), ">", Number(1)))

	// A witness reports the lock of its own job and namespace, an observer the lock of
	// that name in any job and namespace (I7).
	outside := Op(named, "unless "+On(append(s.TargetLabels(), s.Holder, catalog.LockName.Name())), s.Metric(catalog.ElectorInfo, one))
	others := Op(suspects, "unless "+On(append(slices.Clone(s.Labels), HolderLabel)), named)
	others = s.OfAnyReporter("unless", others, outside, HolderLabel)
	// Remove those whose lock no view reports. Selecting the opposite would need
	// two copies of others, which is most of the cost.
	unnamed := s.OfAnyReporter("unless", s.Without(claims, named), outside)
	contradicted := s.Without(others, unnamed)
	// If backend and process never agreed on the label of a holder, they use different
	// keys or policies and cannot be compared (I6).
	comparable := s.OfAnyReporter("and", Over("last_over_time", named, lookback), Over("last_over_time", identity, lookback), HolderLabel)
	return s.OfAnyReporter("and", contradicted, comparable)
}
