package dashboards

import (
	"fmt"
	"slices"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/query"
)

// Intervals that Grafana fills in.
const (
	rateInterval = "$__rate_interval"
	shownRange   = "$__range"
)

// queries builds the expressions of the panels. Every selector carries the
// dashboard's variables.
type queries struct {
	cfg Config
	// locks sees all replicas: what concerns a lock as a whole must not
	// change when one replica is picked.
	locks query.Scope
	// replicas sees the replicas that were picked.
	replicas query.Scope
}

func newQueries(cfg Config) (queries, error) {
	selector, err := cfg.Scope.matchers()
	if err != nil {
		return queries{}, err
	}
	locks := query.Scope{
		Labels:         cfg.Scope.Labels,
		Holder:         cfg.Scope.Holder,
		Matchers:       slices.Clone(selector),
		TargetMatchers: slices.Clone(selector),
	}
	locks.TargetMatchers = slices.DeleteFunc(locks.TargetMatchers, func(m query.Matcher) bool { return m.Label == catalog.LockName.Name })
	for _, l := range cfg.Scope.Labels {
		picked := query.Matches(l, "$"+l)
		locks.Matchers = append(locks.Matchers, picked)
		if l != catalog.LockName.Name {
			locks.TargetMatchers = append(locks.TargetMatchers, picked)
		}
	}
	replicas := locks
	replicas.Matchers = append(slices.Clone(locks.Matchers), query.Matches(cfg.Scope.Holder, "$"+cfg.Scope.Holder))
	return queries{cfg: cfg, locks: locks, replicas: replicas}, nil
}

// active is 1 where a lock is held by anybody.
func (q queries) active() query.Expr { return q.locks.By("max", q.locks.Metric(catalog.Active)) }

// mode selects the locks that are used in one way.
func (q queries) mode(m catalog.Mode) query.Expr {
	return q.locks.By("max", q.locks.Metric(catalog.ElectorInfo, query.Equal("mode", m.String())))
}

// held keeps the locks that some replica campaigns for.
func (q queries) held(e query.Expr) query.Expr {
	return query.Op(e, "and", q.mode(catalog.ModeHold))
}

// run leaves out locks that some replica campaigns for.
func (q queries) run(e query.Expr) query.Expr {
	return query.Op(e, "unless", q.mode(catalog.ModeHold))
}

// leaderless keeps the locks that somebody should hold and nobody does. In run
// mode a lock that nobody holds is the normal case.
func (q queries) leaderless() query.Expr {
	return q.held(query.Op(q.active(), "==", query.Number(0)))
}

// claims counts the leases held for a lock; a replica scraped by two
// Prometheus servers counts once.
func (q queries) claims(matchers ...query.Matcher) query.Expr {
	return q.locks.By("sum", q.locks.ByHolder("max", q.locks.Metric(catalog.Active, matchers...)))
}

// allowed is the number of leaders that the elector allows at once.
func (q queries) allowed() query.Expr {
	return q.locks.By("max", q.locks.Metric(catalog.MaxLeaders))
}

// crowded keeps the locks with more leaders than allowed. Labels that several
// locks share are left out: two leaders are no surprise there.
func (q queries) crowded() query.Expr {
	return query.Op(q.claims(query.SingleLock()), ">", q.allowed())
}

// holder keeps one replica that leads, for each lock.
func (q queries) holder() query.Expr {
	leading := query.Op(q.locks.ByHolder("max", q.locks.Metric(catalog.Active)), ">", query.Number(0))
	return q.locks.By("topk", "1, "+leading)
}

// errorShare is the share of attempts that met a backend error; a lock that
// nobody tried for has none.
func (q queries) errorShare() query.Expr {
	return query.Op(q.locks.BackendErrorShare(duration(q.cfg.Thresholds.ErrorWindow)), ">=", query.Number(0))
}

// erring keeps the locks whose attempts meet backend errors too often.
func (q queries) erring() query.Expr {
	t := q.cfg.Thresholds
	return query.Op(
		query.Op(q.errorShare(), ">", query.Number(t.ErrorShare)), "and",
		query.Op(q.locks.BackendErrors(duration(t.ErrorWindow)), ">", query.Number(float64(t.MinErrors)-0.5)))
}

// nearLease counts the uses of a lease that took most of it.
// Native histograms, which have no buckets to subtract, are asked second.
func (q queries) nearLease(window string) query.Expr {
	classic := q.locks.NearLease(window, duration(q.cfg.Scope.ScrapeInterval))
	native := q.locks.Increased(catalog.LeaseUsageRatio, window)
	beyond := query.Call("histogram_fraction", query.Number(catalog.NearLeaseBound), "+Inf", native)
	return query.Op(classic, "or", query.Op(beyond, "*", query.Call("histogram_count", native)))
}

// overruns counts the terms that ran past the end of their lease.
func (q queries) overruns(window string) query.Expr {
	return q.locks.Increased(catalog.LeaseOverruns, window)
}

// headroom is the time left until the lease ends; negative once it has.
func (q queries) headroom() query.Expr {
	return q.locks.By("min", q.locks.Metric(catalog.LeaseHeadroom))
}

// leaseLeft is the headroom as a share of the lease.
func (q queries) leaseLeft() query.Expr {
	return query.Op(q.headroom(), "/", q.leaseLength())
}

func (q queries) leaseLength() query.Expr {
	return q.locks.By("max", q.locks.Metric(catalog.LeaseDuration))
}

// quantile of a histogram per lock, classic buckets first; missing where
// nothing was observed.
func (q queries) quantile(phi float64, m *catalog.Metric) query.Expr {
	classic := query.By("sum", append(slices.Clone(q.locks.Labels), "le"), query.Over("rate", q.locks.Bucket(m), rateInterval))
	native := q.locks.By("sum", query.Over("rate", q.locks.Metric(m), rateInterval))
	either := query.Op(
		query.Call("histogram_quantile", query.Number(phi), classic), "or",
		query.Call("histogram_quantile", query.Number(phi), native))
	return query.Op(either, ">=", query.Number(0)) // drops NaN
}

// perMinute is the rate of a counter over all locks that are shown, split by
// the labels.
func (q queries) perMinute(m *catalog.Metric, labels ...string) query.Expr {
	rate := query.Over("rate", q.locks.Metric(m), rateInterval)
	total := query.Expr(fmt.Sprintf("sum(%s)", rate))
	if len(labels) > 0 {
		total = query.By("sum", labels, rate)
	}
	return query.Op(query.Number(60), "*", total)
}

// increases is the growth of a counter per lock, split by more labels.
func (q queries) increases(m *catalog.Metric, labels ...string) query.Expr {
	return query.By("sum", append(slices.Clone(q.locks.Labels), labels...), query.Over("increase", q.locks.Metric(m), rateInterval))
}

// targets are the scrape targets that exported leaderscope's metrics within
// the last hour, by the labels that targets have.
func (q queries) targets(e query.Expr) query.Expr {
	labels := q.locks.TargetLabels()
	seen := query.Over("last_over_time", q.locks.Metric(catalog.Attempts), "1h")
	return query.Op(e, "and "+query.On(labels), query.By("group", labels, seen))
}

// sortedBy orders series by labels of theirs: Prometheus sorts by label names
// first, and no label of a user begins with _.
func sortedBy(e query.Expr, labels ...string) query.Expr {
	args := []query.Expr{e, query.Text("_order"), query.Text(" ")}
	for _, l := range labels {
		args = append(args, query.Text(l))
	}
	return query.Call("label_join", args...)
}

// countOf counts the series that a filter leaves of all, so that none is 0
// and only unknown is missing.
func countOf(filtered, all query.Expr) query.Expr {
	return query.Op(countAll(filtered), "or", query.Op(query.Number(0), "*", countAll(all)))
}

func countAll(e query.Expr) query.Expr { return query.Expr(fmt.Sprintf("count(%s)", e)) }

// duration prints d the way PromQL and Grafana write it.
func duration(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if d >= u.unit && d%u.unit == 0 {
			return fmt.Sprintf("%d%s", d/u.unit, u.name)
		}
	}
	return fmt.Sprintf("%dms", d.Milliseconds())
}
