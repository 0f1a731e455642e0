package query

import "github.com/leaderscope/leaderscope/instrument/catalog"

// Increased adds up the events of a counter in a window, by scope.
func (s Scope) Increased(m *catalog.Metric, window string, matchers ...Matcher) Expr {
	return s.By("sum", Over("increase", s.Metric(m, matchers...), window))
}

// BackendErrors are the attempts that met a backend error in a window.
func (s Scope) BackendErrors(window string) Expr {
	reason, _ := catalog.NotAcquired.Label("reason")
	return s.Increased(catalog.NotAcquired, window, Equal(reason.Name(), catalog.BackendError.String()))
}

// BackendErrorShare is the share of attempts that met a backend error.
func (s Scope) BackendErrorShare(window string) Expr {
	return Op(s.BackendErrors(window), "/", s.Increased(catalog.Attempts, window))
}

// Hold is 1 for the locks that are campaigned for and held.
func (s Scope) Hold(matchers ...Matcher) Expr {
	return s.By("max", s.holdInfo(matchers))
}

// HeldWithin is 1 for the locks that were campaigned for and held at any time
// in a window: between two replicas of a crash loop nothing says so now.
func (s Scope) HeldWithin(window string, matchers ...Matcher) Expr {
	return s.By("max", Over("max_over_time", s.holdInfo(matchers), window))
}

func (s Scope) holdInfo(matchers []Matcher) Expr {
	mode, _ := catalog.ElectorInfo.Label("mode")
	return s.Metric(catalog.ElectorInfo, append([]Matcher{Equal(mode.Name(), catalog.ModeHold.String())}, matchers...)...)
}

// NearLease counts the runs and renewals of a window that used more than
// catalog.NearLeaseBound of their lease. What is counted is subtracted before
// the increase is taken: two increases are extrapolated differently where one
// series began near zero, and their difference would not be 0 when it is.
func (s Scope) NearLease(window, step string) Expr {
	return s.By("sum", Call("increase", Subquery(s.nearLeaseCount(), window, step)))
}

// nearLeaseCount is that count since the process started: classic buckets
// first, then native histograms. A histogram is absent until its first
// observation, so its counter begins with the one of overruns, which is there
// as soon as a lease is known. Otherwise the first late run would be no
// increase (G11).
func (s Scope) nearLeaseCount() Expr {
	bound := string(Number(catalog.NearLeaseBound))
	classic := Op(s.Count(catalog.LeaseUsageRatio), "- ignoring (le)", s.Bucket(catalog.LeaseUsageRatio, Equal("le", bound)))
	return Op(Op(classic, "or", s.nearLeaseNative()), "or", zero(s.Metric(catalog.LeaseOverruns)))
}

// Observed counts the observations of a histogram in a window, from its
// classic series or else from the native ones. The counter since is one that
// is there before the first observation.
func (s Scope) Observed(m, since *catalog.Metric, window, step string) Expr {
	// The product drops the name: what is counted and its zero are one series.
	counted := Op(Op(Number(1), "*", s.Count(m)), "or", Call("histogram_count", s.Metric(m)))
	return s.By("sum", Call("increase", Subquery(Op(counted, "or", zero(s.Metric(since))), window, step)))
}

// zero is 0 for each series of e.
func zero(e Expr) Expr { return Op(Number(0), "*", e) }
