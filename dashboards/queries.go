package dashboards

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

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
	// locks reads all replicas: values of a lock as a whole must not change when one
	// replica is selected.
	locks query.Scope
	// replicas reads the selected replicas; on the overview, which has no such
	// variable, all of them.
	replicas query.Scope
	// facts are the queries about locks, over all replicas.
	facts query.Facts
	// legend names a lock among those that are shown.
	legend string
	// oneLock: the dashboard shows one lock, so panels leave out no lock.
	oneLock bool
	// lock is the label that names a lock; lock_name unless another project exports
	// the series.
	lock string
	// listed is the name of a metric that every lock has; variables query it.
	listed string
	// drill is the dashboard that the name of a lock links to.
	drill Identity
}

// newQueries reads all locks that the variables select.
func newQueries(cfg Config) (queries, error) {
	q, err := queries{cfg: cfg, legend: cfg.legend(), listed: cfg.metric(catalog.ElectorInfo), drill: cfg.Lock}.scoped()
	q.facts.Recorded = cfg.Recording
	return q, err
}

// newLockQueries reads one lock, always from the series of its few replicas. The
// other labels of the scope distinguish it from locks with the same name.
func newLockQueries(cfg Config) (queries, error) {
	var where []string
	for _, l := range cfg.Scope.Labels {
		if l != catalog.LockName.Name() {
			where = append(where, "{{"+l+"}}")
		}
	}
	if where == nil {
		where = []string{"{{" + catalog.LockName.Name() + "}}"}
	}
	return queries{cfg: cfg, legend: strings.Join(where, " "), oneLock: true, listed: cfg.metric(catalog.ElectorInfo), drill: cfg.Lock}.scoped()
}

// metric is the name under which an exporter exports a metric of the catalogue.
func (c Config) metric(m *catalog.Metric) string { return c.Scope.MetricPrefix + m.Name() }

// foreign: another project exports the series.
func (q queries) foreign() bool { return q.lock != catalog.LockName.Name() }

// otherLabels are the scope labels without the one that names a lock.
func (q queries) otherLabels() []string {
	return slices.DeleteFunc(q.locks.TargetLabels(), func(l string) bool { return l == q.lock })
}

// replicaLegend names a lock and a replica.
func (q queries) replicaLegend() string { return q.legend + " {{" + q.cfg.Scope.Holder + "}}" }

func (q queries) scoped() (queries, error) {
	if err := q.cfg.Validate(); err != nil {
		return queries{}, err
	}
	q.lock = catalog.LockName.Name()
	return q.selecting()
}

// selecting builds the selectors from the scope, which must be valid but for the label
// of a lock.
func (q queries) selecting() (queries, error) {
	scope := q.cfg.Scope
	selector, err := scope.printed()
	if err != nil {
		return queries{}, err
	}
	q.locks = query.Scope{
		Labels:         scope.Labels,
		Reporter:       scope.Reporter,
		Holder:         scope.Holder,
		Prefix:         scope.MetricPrefix,
		Matchers:       slices.Clone(selector),
		TargetMatchers: slices.Clone(selector),
	}
	q.locks.TargetMatchers = slices.DeleteFunc(q.locks.TargetMatchers, func(m query.Matcher) bool { return m.Label == catalog.LockName.Name() })
	for _, l := range scope.Labels {
		q.locks.Matchers = append(q.locks.Matchers, q.chosen(l))
		if l != catalog.LockName.Name() {
			q.locks.TargetMatchers = append(q.locks.TargetMatchers, q.chosen(l))
		}
	}
	q.locks.Histograms = scope.histograms()
	q.facts = query.Facts{Scope: q.locks, Limits: q.cfg.limits(), JobMatcher: q.chosen("job")}
	// Alerts have the labels of the scope and not those of the selector.
	for _, l := range scope.Labels {
		q.facts.AlertMatchers = append(q.facts.AlertMatchers, q.chosen(l))
	}
	if q.foreign() {
		q.facts.AlertMatchers = append(q.facts.AlertMatchers, query.Unequal(q.lock, ""))
	}
	q.replicas = q.locks
	if !q.oneLock {
		return q, nil
	}
	picked := q.chosen(scope.Holder)
	q.replicas.Matchers = append(slices.Clone(q.locks.Matchers), picked)
	q.replicas.TargetMatchers = append(slices.Clone(q.locks.TargetMatchers), picked)
	return q, nil
}

// stores reads the series of guards: a store may have another job than the replicas,
// and shares only the label of the lock with them.
func (q queries) stores() query.Scope {
	s := q.locks
	s.Matchers = slices.DeleteFunc(slices.Clone(s.Matchers), func(m query.Matcher) bool {
		return m == q.chosen("job")
	})
	return s
}

// limits returns the thresholds of the alerts.
func (c Config) limits() query.Limits {
	return query.Limits{
		ErrorShare: c.Thresholds.ErrorShare, MinErrors: c.Thresholds.MinErrors,
		ErrorWindow: promDuration(c.Thresholds.ErrorWindow), LeaseWindow: promDuration(c.Thresholds.LeaseWindow),
		RateWindow: promDuration(rateScrapes * c.Scope.ScrapeInterval),
	}
}

// promDuration is the notation of the rules, which is part of the names of recorded
// series.
func promDuration(d time.Duration) string { return model.Duration(d).String() }

// rateScrapes is how many scrapes the shortest window of a rate holds.
const rateScrapes = 4

// chosen matches the values that a variable selects. A single value is compared
// literally: Grafana escapes regular expressions only in variables that allow
// several values.
func (q queries) chosen(label string) query.Matcher {
	if q.oneLock && label == catalog.LockName.Name() {
		return query.Equal(label, "$"+label)
	}
	return query.Matches(label, "$"+label)
}

// most keeps the greatest of the series that exist per lock: a panel with hundreds of
// lines is not readable, and the table has all locks.
func (q queries) most(e query.Expr) query.Expr { return q.ranked("topk", drawnLocks, e) }

// least keeps the smallest.
func (q queries) least(e query.Expr) query.Expr { return q.ranked("bottomk", drawnLocks, e) }

// How many locks a panel over time tells apart. The timeline has a line for
// each leader of each.
const (
	drawnLocks    = 12
	timelineLocks = 8
)

func (q queries) ranked(op string, n int, e query.Expr) query.Expr {
	if q.oneLock {
		return e
	}
	return query.Call(op, query.Number(float64(n)), e)
}

// durations returns the average of a duration, with exemplars if one lock is shown,
// and the 99th percentile if native histograms are read.
func (q queries) durations(m *catalog.Metric) []target {
	average := q.facts.Average(m, rateInterval)
	if q.oneLock && q.facts.Histograms != query.NativeHistograms {
		// Exemplars belong to buckets, which the average does not read.
		average = query.Op(average, "and", query.Op(q.locks.By("sum", query.Over("rate", q.locks.Bucket(m), rateInterval)), ">=", query.Number(0)))
	}
	all := []target{{ref: "Average", expr: average, legend: "average " + q.legend, exemplars: q.oneLock}}
	if q.native() {
		all = append(all, target{ref: "P99", expr: q.facts.Quantile(0.99, m, rateInterval), legend: "p99 " + q.legend, exemplars: true})
	}
	return all
}

// native: panels read native histograms, whose quantiles are exact enough.
func (q queries) native() bool { return q.facts.Histograms != query.ClassicHistograms }

// grown is how far each series of a counter grew in the window of a bar. The
// exact count reads each series several times, which is cheap for one lock; of many, an increase
// is rounded down, which is exact up to 3 events of a replica.
func (q queries) grown(counter query.Expr) query.Expr {
	if q.oneLock {
		return query.Counted(counter, rateInterval)
	}
	return query.Floor(query.Over("increase", counter, rateInterval))
}

// eventsOf counts the events of a counter in the window of a bar, by lock.
func (q queries) eventsOf(m *catalog.Metric, only ...query.Matcher) query.Expr {
	return q.locks.By("sum", q.grown(q.locks.Metric(m, only...)))
}

// overruns counts the terms that ran past the end of their lease.
func (q queries) overruns() query.Expr {
	if q.facts.Recorded {
		return query.Floor(q.facts.Overruns(rateInterval))
	}
	return q.eventsOf(catalog.LeaseOverruns)
}

// failed counts the runs that failed in one way.
func (q queries) failed(cause string) query.Expr {
	if q.facts.Recorded {
		return query.Floor(q.facts.Failures(cause, rateInterval))
	}
	label, _ := catalog.ExecutionFailures.Label("cause")
	return q.eventsOf(catalog.ExecutionFailures, query.Equal(label.Name(), cause))
}

// perMinute is the rate of a counter over all locks that are shown, split by
// a label unless that is empty.
func (q queries) perMinute(m *catalog.Metric, label string) query.Expr {
	return query.Op(query.Number(60), "*", q.total(label, q.facts.RecordedJobRate(m, label), func(only ...query.Matcher) query.Expr {
		return query.Over("rate", q.locks.Metric(m, only...), rateInterval)
	}))
}

// total adds up over all locks that are shown. Recorded series of jobs have no lock
// label, so they match only while All is selected. In that case, the second matcher
// excludes the series of the replicas without cost.
func (q queries) total(label, recorded string, each func(...query.Matcher) query.Expr) query.Expr {
	sum := func(e query.Expr) query.Expr {
		if label == "" {
			return query.Expr("sum(" + e + ")")
		}
		return query.By("sum", []string{label}, e)
	}
	if !q.facts.Recorded {
		return sum(each())
	}
	return query.Op(sum(query.Over("avg_over_time", q.ofJobs(recorded), rateInterval)), "or", sum(each(notAll())))
}

// ofJobs selects a recorded series of jobs while all locks are chosen.
func (q queries) ofJobs(recorded string) query.Expr {
	return query.Selector(recorded, append(slices.Clone(q.locks.TargetMatchers), q.chosen(catalog.LockName.Name()))...)
}

// notAll selects nothing while all locks are chosen.
func notAll() query.Matcher { return query.MatchesNot(query.NoLabel, "$"+catalog.LockName.Name()) }

// movedMost keeps the series of the locks whose leadership changed most often in the
// range shown, held locks before locks for single runs, and for each lock the
// replicas that led. Both are computed over the whole range, so that lines do not
// appear and disappear.
func (q queries) movedMost() query.Expr {
	if q.facts.Recorded {
		return q.firstMoved(q.replicas.ByHolder("max", q.replicas.Recording(query.RecordedLeading)))
	}
	active := q.replicas.Metric(catalog.Active)
	led := query.Op(overAllShown("max_over_time", active), ">", query.Number(0))
	shown := query.Op(q.replicas.ByHolder("max", active), "and", q.replicas.ByHolder("max", led))
	if q.oneLock {
		return shown
	}
	return q.firstMoved(shown)
}

// moves is how often the leadership of each lock changed in the range shown, for held
// locks and for all locks. It is the same at each step.
func (q queries) moves() (held, all query.Expr) {
	if q.facts.Recorded {
		won := func(m ...query.Matcher) query.Expr {
			return q.locks.By("sum", overAllShown("sum_over_time", q.facts.Recording(q.facts.RecordedWon(), m...)))
		}
		return won(query.Equal("mode", catalog.ModeHold.String())), won()
	}
	all = q.locks.By("sum", overAllShown("changes", q.locks.Metric(catalog.Active)))
	isHeld := q.locks.By("max", q.locks.Metric(catalog.ElectorInfo, query.Equal("mode", catalog.ModeHold.String()))+" @ end()")
	return query.Op(all, "and", isHeld), all
}

// firstMoved keeps the locks with the most moves, held ones first.
func (q queries) firstMoved(e query.Expr) query.Expr {
	held, all := q.moves()
	first := query.Op(held, "+", query.Number(1e6))
	return query.Op(e, "and "+query.On(q.locks.Labels), q.ranked("topk", timelineLocks, query.Op(first, "or", all)))
}

// overAllShown evaluates a function over the whole range shown, at each step.
func overAllShown(function string, e query.Expr) query.Expr {
	return query.Expr(fmt.Sprintf("%s(%s[%s] @ end())", function, e, shownRange))
}

// targets returns the scrape targets that exported leaderscope's metrics within the
// last hour, by the labels of targets.
func (q queries) targets(e query.Expr) query.Expr {
	const window = "1h"
	labels := q.locks.TargetLabels()
	seen := query.Over("last_over_time", q.locks.Metric(catalog.Attempts), window)
	if q.facts.Recorded {
		jobs := query.Over("last_over_time", q.ofJobs(q.facts.RecordedJobRate(catalog.Attempts, "")), window)
		seen = query.Op(jobs, "or", query.Over("last_over_time", q.locks.Metric(catalog.Attempts, notAll()), window))
	}
	return query.Op(e, "and "+query.On(labels), query.By("group", labels, seen))
}

// sortedBy orders series by the values of labels: Prometheus sorts by label names
// first, and no label of a user starts with _.
func sortedBy(e query.Expr, labels ...string) query.Expr {
	args := []query.Expr{e, query.Text("_order"), query.Text(" ")}
	for _, l := range labels {
		args = append(args, query.Text(l))
	}
	return query.Call("label_join", args...)
}

// countOf counts the series that pass a filter. The result is 0 if none passes, and
// is missing only if there are no series at all.
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
