package query

import (
	"slices"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// The backend's view has two kinds of reporters: a witness, which campaigns for
// the lock, and an observer, which does not and has a job and a namespace of
// its own.

// BackendLabel and HolderLabel are labels of that view.
const (
	BackendLabel = "backend"
	HolderLabel  = "holder"
)

// AnyReporter are the scope labels that tell locks apart whichever process
// speaks of them.
func (s Scope) AnyReporter() []string {
	return slices.DeleteFunc(slices.Clone(s.Labels), func(l string) bool { return slices.Contains(s.Reporter, l) })
}

// BackendLabels tell the locks of several backends apart.
func (s Scope) BackendLabels() []string { return append(slices.Clone(s.Labels), BackendLabel) }

// OfAnyReporter matches locks, and further labels, whichever process reports
// them: the operator is and, or unless.
func (s Scope) OfAnyReporter(operator string, e, set Expr, more ...string) Expr {
	return Op(e, operator+" "+On(append(s.AnyReporter(), more...)), set)
}

// Free keeps the locks for which the backend names no live holder. Of several
// reporters the one that sees a holder counts: another may be behind.
func (s Scope) Free(matchers ...Matcher) Expr {
	return Op(By("max", s.BackendLabels(), s.Metric(catalog.BackendHeld, matchers...)), "==", Number(0))
}

// HeldWithin keeps the reports of locks that had a holder within a window. A
// record that was free from the first look on may be of a program that is gone.
func (s Scope) HeldWithin(window string, matchers ...Matcher) Expr {
	return Op(Over("max_over_time", s.Metric(catalog.BackendHeld, matchers...), window), ">", Number(0))
}

// Impostors are the processes that lead while the backend names another
// holder. The two views must have named a candidate alike within the lookback.
// An end of a lease that has not moved for the time of still, and has passed,
// ends a claim.
func (s Scope) Impostors(lookback, still string) Expr {
	one := SingleLock()
	holder := one
	holder.Label = HolderLabel
	identity, named := s.Metric(catalog.IdentityInfo, one, holder), s.Metric(catalog.BackendHolderInfo, one, holder)

	expiry := s.Metric(catalog.LeaseExpiry, one)
	// A collector repeats what a leader said before it died (I8).
	dead := Op(Op(expiry, "==", Offset(expiry, still)), "<", Call("time"))
	onReplica := On(s.HolderLabels())
	leads := Op(Op(s.Metric(catalog.Active, one), ">", Number(0)), "unless "+onReplica, dead)
	// Group electors have several holders, and the view has one (I5).
	suspects := s.Without(Op(identity, "and "+onReplica, leads), Op(s.Metric(catalog.MaxLeaders, one), ">", Number(1)))

	// A witness speaks of the lock of its own job and namespace, an observer of
	// that name wherever it is (I7).
	outside := Op(named, "unless "+On(append(s.TargetLabels(), s.Holder, catalog.LockName.Name())), s.Metric(catalog.ElectorInfo, one))
	others := Op(suspects, "unless "+On(append(slices.Clone(s.Labels), HolderLabel)), named)
	others = s.OfAnyReporter("unless", others, outside, HolderLabel)
	contradicted := Op(s.Of(others, named), "or", s.OfAnyReporter("and", others, outside))
	// Where no holder was ever named as it names itself, the two views use
	// different keys or policies and cannot be compared (I6).
	comparable := s.OfAnyReporter("and", Over("last_over_time", named, lookback), Over("last_over_time", identity, lookback), HolderLabel)
	return s.OfAnyReporter("and", contradicted, comparable)
}
