package query

import "github.com/leaderscope/leaderscope/instrument/catalog"

// Increased adds up the events of a counter in a window, by scope.
func (s Scope) Increased(m *catalog.Metric, window string, matchers ...Matcher) Expr {
	return s.By("sum", Over("increase", s.Metric(m, matchers...), window))
}

// Counted is how far each series of a counter grew between the samples of a window, whole
// for a counter of events. An increase adds what may lie between the samples and
// the ends of the window: of one event it makes 1.25. It is read where a process restarted,
// and rounded down, because it is never too small.
func Counted(counter Expr, window string) Expr {
	whole := Op(Over("max_over_time", counter, window), "-", Over("min_over_time", counter, window))
	restarted := Op(Over("resets", counter, window), ">", Number(0))
	return Op(Op(whole, "unless", restarted), "or", Op(Floor(Over("increase", counter, window)), "and", restarted))
}

// Floor rounds an increase down. A little is added, because 1 may be computed as 0.999….
func Floor(increase Expr) Expr {
	return Call("floor", Op(increase, "+", Number(1e-6)))
}

// BackendErrors are the attempts that met a backend error in a window.
func (s Scope) BackendErrors(window string) Expr {
	reason, _ := catalog.NotAcquired.Label("reason")
	return s.Increased(catalog.NotAcquired, window, Equal(reason.Name(), catalog.BackendError.String()))
}

// BackendErrorShare is the share of attempts that met a backend error.
func (s Scope) BackendErrorShare(window string) Expr {
	return s.ofAttempts(s.BackendErrors(window), window)
}

// BackendErrorShareAbove is that share for locks with more than n such attempts.
func (s Scope) BackendErrorShareAbove(more Expr, window string) Expr {
	return s.ofAttempts(Op(s.BackendErrors(window), ">", more), window)
}

func (s Scope) ofAttempts(e Expr, window string) Expr {
	return Op(e, "/", s.Increased(catalog.Attempts, window))
}

// Hold is 1 for the locks that are campaigned for and held.
func (s Scope) Hold(matchers ...Matcher) Expr {
	return s.By("max", s.HoldInfo(matchers...))
}

// HoldInfo selects the replicas that campaign for locks and hold them.
func (s Scope) HoldInfo(matchers ...Matcher) Expr {
	mode, _ := catalog.ElectorInfo.Label("mode")
	return s.Metric(catalog.ElectorInfo, append([]Matcher{Equal(mode.Name(), catalog.ModeHold.String())}, matchers...)...)
}

// NearLease counts the runs and renewals of a window that used more than
// catalog.NearLeaseBound of their lease; 0 if a lease is known and there are none.
func (s Scope) NearLease(window string) Expr {
	all := s.nearLease(window, func(e Expr) Expr { return e })
	return s.By("sum", Op(all, "or", Op(Number(0), "*", s.Metric(catalog.LeaseOverruns))))
}

// NearLeases is that count for replicas that have any: the others are left out before
// the aggregation, to save cost.
func (s Scope) NearLeases(window string) Expr {
	return s.By("sum", s.nearLease(window, func(e Expr) Expr { return Op(e, ">", Number(0)) }))
}

func (s Scope) nearLease(window string, keep func(Expr) Expr) Expr {
	return s.Histograms.Either(s.nearLeaseClassic(window, keep), s.nearLeaseNative(window))
}

// nearLeaseClassic subtracts two deltas, which are extrapolated in the same way because
// their samples have the same times. Increases are not: their extrapolation stops
// where a series would fall below zero, so a difference of 0 could become positive.
// Deltas ignore a process that restarted, and a histogram that started with its first
// observation; both have no earlier values to subtract (G6, G11).
func (s Scope) nearLeaseClassic(window string, keep func(Expr) Expr) Expr {
	count, good := s.Count(catalog.LeaseUsageRatio), s.goodUse()
	young := Op(s.beganWithin(count, window), "or", Op(Over("resets", count, window), ">", "0"))
	grown := Op(Over("delta", count, window), "- ignoring (le)", Over("delta", good, window))
	return Op(Op(keep(s.nearLeaseSinceStart()), "and", young), "or", keep(grown))
}

// nearLeaseSinceStart is that count since the process started.
func (s Scope) nearLeaseSinceStart() Expr {
	return Op(s.Count(catalog.LeaseUsageRatio), "- ignoring (le)", s.goodUse())
}

// goodUse counts the uses of a lease that left enough of it.
func (s Scope) goodUse() Expr {
	return s.Bucket(catalog.LeaseUsageRatio, Equal("le", string(Number(catalog.NearLeaseBound))))
}

// beganWithin keeps series that started within a window although their process was
// already scraped before: a counter that exists from the start has more samples.
func (s Scope) beganWithin(series Expr, window string) Expr {
	return Op(Over("count_over_time", series, window), "<", Over("count_over_time", s.Metric(catalog.Attempts), window))
}

// nearLeaseCount counts since the process started, for recording: recorded series are
// read with increase. A histogram is absent until its first observation, so the count
// starts with the counter of overruns, which exists as soon as a lease is known.
// Otherwise the first late run would not be an increase (G11).
func (s Scope) nearLeaseCount() Expr {
	counted := s.Histograms.Either(s.nearLeaseSinceStart(), lateShare(s.Metric(catalog.LeaseUsageRatio)))
	return Op(counted, "or", Op(Number(0), "*", s.Metric(catalog.LeaseOverruns)))
}

// Observed counts the observations of a histogram in a window, by replica.
func (s Scope) Observed(m *catalog.Metric, window string) Expr {
	return s.Histograms.Either(Over("increase", s.Count(m), window), Call("histogram_count", Over("increase", s.Metric(m), window)))
}

// Observations adds up the values that a histogram observed in a window.
func (s Scope) Observations(m *catalog.Metric, window string) Expr {
	return s.Histograms.Either(Over("increase", s.Sum(m), window), Call("histogram_sum", Over("increase", s.Metric(m), window)))
}

// Average of the values that a histogram observed in a window, per lock;
// missing where it observed none.
func (s Scope) Average(m *catalog.Metric, window string) Expr {
	return Op(Op(s.By("sum", s.Observations(m, window)), "/", s.By("sum", s.Observed(m, window))), ">=", Number(0)) // drops NaN
}
