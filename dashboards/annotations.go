package dashboards

import (
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

// annotations mark moments on every panel that has a time axis.
func (q queries) annotations() []cog.Builder[dashboard.AnnotationQuery] {
	return []cog.Builder[dashboard.AnnotationQuery]{
		q.annotation("Leadership won", blue, q.facts.Won(), q.legend, q.cfg.Scope.Labels...),
		q.alertAnnotation(),
		q.annotation("Replica started", grey, q.started(), "{{"+q.cfg.Scope.Holder+"}}", q.cfg.Scope.Holder),
	}
}

func (q queries) alertAnnotation() *dashboard.AnnotationQueryBuilder {
	return q.annotation("Alert firing", red, q.alerting(), "{{"+labels.AlertName+"}} "+q.legend, labels.AlertName)
}

// annotation looks as often as its window is long, so that an event is marked
// once.
func (q queries) annotation(name, color string, e query.Expr, text string, tags ...string) *dashboard.AnnotationQueryBuilder {
	expr, err := query.Pretty(e)
	b := dashboard.NewAnnotationQueryBuilder().Name(name).Datasource(datasource()).
		Enable(true).IconColor(color).Expr(expr).Step(q.eventWindow()).
		TitleFormat(name).TextFormat(text).TagKeys(strings.Join(tags, ","))
	if err != nil {
		b.RecordError(name, err)
	}
	return b
}

func (q queries) eventWindow() string { return duration(rateScrapes * q.cfg.Scope.ScrapeInterval) }

// alerting are the alerts that fire of the locks shown, and those that name no
// lock.
func (q queries) alerting() query.Expr {
	return q.ofAlerts("ALERTS", query.Equal("alertstate", "firing"))
}

// ofAlerts selects one of the series that the evaluation of rules leaves.
func (q queries) ofAlerts(series string, matchers ...query.Matcher) query.Expr {
	common := append([]query.Matcher{query.Matches(labels.AlertName, panel.AlertPrefix+".*")}, matchers...)
	ofLock, ofNone := q.locked(), q.lockless()
	for _, l := range q.otherLabels() {
		ofLock = append(ofLock, q.chosen(l))
		if q.lock != query.LeaseName || l != query.LeaseSpace { // the exporter is not where the Leases are
			ofNone = append(ofNone, q.chosen(l))
		}
	}
	return query.Op(query.Selector(series, slices.Concat(common, ofLock)...), "or", query.Selector(series, slices.Concat(common, ofNone)...))
}

// locked matches alerts about the chosen locks. All is .*, which matches alerts about
// the locks of other sources too.
func (q queries) locked() []query.Matcher {
	if !q.foreign() {
		return []query.Matcher{q.chosen(q.lock)}
	}
	return []query.Matcher{q.chosen(q.lock), query.Unequal(q.lock, "")}
}

// lockless matches alerts that are about no single lock, of any source.
func (q queries) lockless() []query.Matcher {
	if !q.foreign() {
		return []query.Matcher{query.Equal(q.lock, "")}
	}
	return []query.Matcher{
		query.Equal(catalog.LockName.Name(), ""), query.Equal(query.ClientGoName, ""), query.Equal(query.LeaseName, ""),
	}
}

// started are the replicas that appeared, or whose counters restarted.
func (q queries) started() query.Expr {
	by := append(q.locks.TargetLabels(), q.cfg.Scope.Holder)
	if q.facts.Recorded {
		return q.startedOf(by)
	}
	attempts := q.replicas.Metric(catalog.Attempts)
	appeared := query.Op(query.By("group", by, query.Call("timestamp", attempts)), "unless", query.By("group", by, query.Offset(attempts, q.eventWindow())))
	began := query.Op(query.Over("resets", attempts, q.eventWindow()), ">", query.Number(0))
	return query.Op(appeared, "or", query.By("group", by, began))
}

// startedOf reads what is recorded of each replica, where all locks are
// chosen; or of the chosen ones, what the replicas say.
func (q queries) startedOf(by []string) query.Expr {
	all := query.Selector(q.facts.RecordedReplicaResets(), append(slices.Clone(q.replicas.TargetMatchers), q.chosen(catalog.LockName.Name()))...)
	some := q.replicas.Metric(catalog.Attempts, notAll())
	here := query.Op(all, "or", query.Call("timestamp", some))
	before := query.Op(query.Offset(all, q.eventWindow()), "or", query.Offset(some, q.eventWindow()))
	began := query.Op(query.Op(all, "or", query.Over("resets", some, q.eventWindow())), ">", query.Number(0))
	return query.Op(query.Op(query.By("group", by, here), "unless", query.By("group", by, before)), "or", query.By("group", by, began))
}
