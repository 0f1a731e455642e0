package alerts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/template"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Validate reports the first knob that is wrong, in one line that begins with
// its key. It refuses combinations with which an alert could never fire.
func (c Config) Validate() error {
	v := &validation{scrape: c.ScrapeInterval}
	v.scope(c)
	v.group(c)
	v.texts(c)
	v.links(c)
	v.alerts(c.Alerts)
	v.selector(c)
	v.recording(c)
	return v.err
}

// validation keeps the first error.
type validation struct {
	scrape model.Duration
	err    error
}

func (v *validation) require(ok bool, key, format string, args ...any) {
	if v.err == nil && !ok {
		v.err = fmt.Errorf(key+": "+format, args...)
	}
}

func (v *validation) scope(c Config) {
	lock := catalog.LockName.Name()
	v.require(slices.Contains(c.ScopeLabels, lock), "scopeLabels", "%s lack %s; without it different locks merge into one", list(c.ScopeLabels), lock)
	for i, l := range c.ScopeLabels {
		v.require(validLabel(l), "scopeLabels", "%q is no label name; use letters, digits and _", l)
		v.require(!seriesLabels()[l], "scopeLabels", "%s is a label of some of the metrics only; use labels of the targets", l)
		v.require(!slices.Contains(c.ScopeLabels[:i], l), "scopeLabels", "%s is there twice; leave one out", l)
	}
	v.require(validLabel(c.HolderLabel), "holderLabel", "%q is no label name; use the label that tells replicas apart, such as instance or pod", c.HolderLabel)
	v.require(c.HolderLabel != lock && !seriesLabels()[c.HolderLabel], "holderLabel", "%s does not tell replicas apart; use a label such as instance or pod", c.HolderLabel)
	v.require(!slices.Contains(c.ScopeLabels, c.HolderLabel), "holderLabel", "%s is a scope label too, so each replica would be judged alone and SplitBrain could never fire; take it out of scopeLabels", c.HolderLabel)
	v.require(c.ScrapeInterval > 0, "scrapeInterval", "%s is no time; use the time between two samples, such as 30s", c.ScrapeInterval)
}

func (v *validation) selector(c Config) {
	if v.err != nil {
		return
	}
	s, err := c.scope()
	if err != nil {
		v.err = err
		return
	}
	noLeader := c.Alerts.NoLeader.Critical.Enabled || c.Alerts.NoLeader.Warning.Enabled
	v.require(!noLeader || len(s.TargetLabels()) > 0 || len(s.TargetMatchers) > 0, "scopeLabels",
		"%s alone leaves NoLeader to look at every target of the server, and one that is down would hide the page; add job, or a selector such as job=~\"a|b\"", list(c.ScopeLabels))
}

func (v *validation) group(c Config) {
	v.require(c.Group.Name != "", "group.name", `"" is no name; use one such as leader-election`)
	v.require(c.Group.Interval >= 0, "group.interval", "%s is negative; use 0 for the server's own", c.Group.Interval)
	a := c.Alerts
	for _, w := range []struct {
		key     string
		window  model.Duration
		enabled bool
	}{
		{"noAcquisition.window", a.NoAcquisition.Window, a.NoAcquisition.Enabled},
		{"flapping.window", a.Flapping.Window, a.Flapping.Enabled},
		{"backendErrors.recent", a.BackendErrors.Recent, a.BackendErrors.Critical.Enabled || a.BackendErrors.Warning.Enabled},
		{"renewalFailures.recent", a.RenewalFailures.Recent, a.RenewalFailures.Enabled},
		{"nearLease.window", a.NearLease.Window, a.NearLease.Enabled},
		{"leaseExceeded.window", a.LeaseExceeded.Window, a.LeaseExceeded.Enabled},
		{"workAfterLoss.window", a.WorkAfterLoss.Window, a.WorkAfterLoss.Enabled},
		{"taskFailing.window", a.TaskFailing.Window, a.TaskFailing.Enabled},
		{"tokenRegressed.window", a.TokenRegressed.Window, a.TokenRegressed.Enabled},
		{"labelOverflow.window", a.LabelOverflow.Window, a.LabelOverflow.Enabled},
	} {
		v.require(!w.enabled || w.window == 0 || 2*c.Group.Interval <= w.window, "group.interval",
			"%s is longer than half of alerts.%s, which is %s, so events could come and go between two evaluations; use at most %s", c.Group.Interval, w.key, w.window, half(w.window))
	}
}

func (v *validation) texts(c Config) {
	reserved := append([]string{"alertname"}, c.ScopeLabels...)
	v.require(validLabel(c.SeverityLabel), "severityLabel", "%q is no label name; use one such as severity", c.SeverityLabel)
	v.require(!slices.Contains(reserved, c.SeverityLabel), "severityLabel", "%s is a label that the alert already has; use another one", c.SeverityLabel)
	for _, l := range sortedKeys(c.Labels) {
		v.require(validLabel(l), "labels."+l, "%q is no label name; use letters, digits and _", l)
		v.require(!slices.Contains(append(reserved, c.SeverityLabel), l), "labels."+l, "%s is a label that the alert already has; use another name", l)
		v.require(!strings.Contains(c.Labels[l], "{{"), "labels."+l, "%q is a template; the identity of an alert must not change, put it under annotations", c.Labels[l])
	}
	ours := []string{"summary", "description", "runbook_url", "dashboard_url", "__dashboardUid__", "__panelId__"}
	for _, a := range sortedKeys(c.Annotations) {
		v.require(validLabel(a), "annotations."+a, "%q is no annotation name; use letters, digits and _", a)
		v.require(!slices.Contains(ours, a), "annotations."+a, "%s is written by the rules; use another name", a)
		err := parseTemplate(c.Annotations[a])
		v.require(err == nil, "annotations."+a, "%q is no template of Prometheus (%v); mend it", c.Annotations[a], err)
	}
}

func (v *validation) links(c Config) {
	for _, u := range []struct{ key, value string }{{"runbookBaseURL", c.RunbookBaseURL}, {"dashboardBaseURL", c.DashboardBaseURL}} {
		v.require(u.value == "" || strings.HasPrefix(u.value, "https://") || strings.HasPrefix(u.value, "http://"),
			u.key, "%q is no web address; begin it with https:// or leave it empty", u.value)
		v.require(!strings.ContainsAny(u.value, "{} \n"), u.key, "%q has braces or spaces; write them as %%7B or %%20", u.value)
	}
	v.require(len(c.DashboardUID) <= 40 && !strings.ContainsAny(c.DashboardUID, "{}/?# \n"), "dashboardUID", "%q is no uid; use at most 40 letters, digits, - and _", c.DashboardUID)
}

func (v *validation) alerts(a Alerts) {
	n := a.NoAcquisition
	v.windowed("alerts.noAcquisition", n.Window, n.Firing)

	l := a.NoLeader
	v.firing("alerts.noLeader.critical", l.Critical)
	v.firing("alerts.noLeader.warning", l.Warning)
	v.distinct("alerts.noLeader.warning.severity", l.Critical, l.Warning)
	if l.Critical.Enabled || l.Warning.Enabled {
		v.require(l.LeaseFactor >= 0 && l.LeaseFactor <= 100, "alerts.noLeader.leaseFactor", "%v is out of range; use 0 to 100 leases", l.LeaseFactor)
		v.require(l.Lookback >= 2*v.scrape, "alerts.noLeader.lookback", "%s holds fewer than two samples at scrapeInterval %s; make it longer", l.Lookback, v.scrape)
		v.require(l.DeadAfter >= 2*v.scrape && (!l.Warning.Enabled || l.DeadAfter > l.Warning.For), "alerts.noLeader.deadAfter",
			"%s is not longer than warning.for, which is %s, and two scrapes, so the warning could never fire; make it longer", l.DeadAfter, l.Warning.For)
	}

	s := a.SplitBrain
	v.firing("alerts.splitBrain", s.Firing)
	v.holdsSamples("alerts.splitBrain.window", s.Window, s.Enabled)

	f := a.Flapping
	v.windowed("alerts.flapping", f.Window, f.Firing)
	v.atLeastOne("alerts.flapping.handovers", f.Handovers, f.Enabled)

	e := a.BackendErrors
	v.errorShare("alerts.backendErrors.critical", e.Window, e.Critical)
	v.errorShare("alerts.backendErrors.warning", e.Window, e.Warning)
	v.distinct("alerts.backendErrors.warning.severity", e.Critical.Firing, e.Warning.Firing)
	either := e.Critical.Enabled || e.Warning.Enabled
	v.holdsSamples("alerts.backendErrors.window", e.Window, either)
	v.holdsSamples("alerts.backendErrors.recent", e.Recent, either)
	v.require(!either || e.Recent <= e.Window, "alerts.backendErrors.recent", "%s is longer than the window of %s; make it shorter", e.Recent, e.Window)
	v.atLeastOne("alerts.backendErrors.minErrors", e.MinErrors, either)

	r := a.RenewalFailures
	v.windowed("alerts.renewalFailures", r.Window, r.Firing)
	v.holdsSamples("alerts.renewalFailures.recent", r.Recent, r.Enabled)
	v.require(!r.Enabled || r.Recent <= r.Window, "alerts.renewalFailures.recent", "%s is longer than the window of %s; make it shorter", r.Recent, r.Window)
	v.atLeastOne("alerts.renewalFailures.minFailures", r.MinFailures, r.Enabled)
	v.share("alerts.renewalFailures.share", "renewals", r.Share, r.Enabled)

	v.windowed("alerts.nearLease", a.NearLease.Window, a.NearLease.Firing)
	v.atLeastOne("alerts.nearLease.minTimes", a.NearLease.MinTimes, a.NearLease.Enabled)
	v.windowed("alerts.leaseExceeded", a.LeaseExceeded.Window, a.LeaseExceeded.Firing)
	v.atLeastOne("alerts.leaseExceeded.minTimes", a.LeaseExceeded.MinTimes, a.LeaseExceeded.Enabled)

	h := a.LowHeadroom
	v.firing("alerts.lowHeadroom", h.Firing)
	v.require(!h.Enabled || h.Share > 0 && h.Share < 1, "alerts.lowHeadroom.share", "%v is no part of a lease; use 0.01 to 0.99", h.Share)

	w := a.WorkAfterLoss
	v.windowed("alerts.workAfterLoss", w.Window, w.Firing)
	v.require(!w.Enabled || w.Tolerance >= 0 && w.Tolerance < w.Window, "alerts.workAfterLoss.tolerance",
		"%s is not between 0 and the window of %s, which one replica cannot exceed; make it shorter", w.Tolerance, w.Window)

	v.work(a)
	v.sight(a)
}

// work checks the alerts about what is done under the locks.
func (v *validation) work(a Alerts) {
	j := a.JobOverdue
	v.firing("alerts.jobOverdue", j.Firing)
	v.require(!j.Enabled || j.Intervals >= 1 && j.Intervals <= 100, "alerts.jobOverdue.intervals",
		"%v is out of range: below 1 each job would be overdue between two runs; use 1 to 100", j.Intervals)
	v.require(!j.Enabled || j.Grace >= 2*v.scrape, "alerts.jobOverdue.grace",
		"%s is shorter than two samples at scrapeInterval %s, and a run is not seen sooner; use at least %s", j.Grace, v.scrape, 2*v.scrape)
	v.require(!j.Enabled || j.Interval >= 0, "alerts.jobOverdue.interval", "%s is negative; use 0 for the interval of the group", j.Interval)
	v.require(!j.Enabled || j.Lookback > j.Grace, "alerts.jobOverdue.lookback", "%s is not longer than grace, which is %s, so no job could be overdue; make it longer", j.Lookback, j.Grace)

	t := a.TaskFailing
	v.windowed("alerts.taskFailing", t.Window, t.Firing)
	v.atLeastOne("alerts.taskFailing.minFailures", t.MinFailures, t.Enabled)
	v.share("alerts.taskFailing.share", "runs", t.Share, t.Enabled)

	v.windowed("alerts.tokenRegressed", a.TokenRegressed.Window, a.TokenRegressed.Firing)
}

// sight checks the alerts about what the others cannot see.
func (v *validation) sight(a Alerts) {
	v.missed("alerts.metricsAbsent", a.MetricsAbsent.Lookback, a.MetricsAbsent.Firing)
	v.missed("alerts.lockVanished", a.LockVanished.Lookback, a.LockVanished.Firing)
	v.missed("alerts.scrapeFailing", a.ScrapeFailing.Lookback, a.ScrapeFailing.Firing)
	v.firing("alerts.redactionKeyMismatch", a.RedactionKeyMismatch.Firing)
	v.windowed("alerts.labelOverflow", a.LabelOverflow.Window, a.LabelOverflow.Firing)
}

// missed checks an alert about something that was there within a lookback.
func (v *validation) missed(key string, lookback model.Duration, f Firing) {
	v.firing(key, f)
	v.require(!f.Enabled || lookback >= f.For+2*v.scrape, key+".lookback",
		"%s is not longer than for, which is %s, and two scrapes, so what is missed would be forgotten before the alert fires; use at least %s", lookback, f.For, f.For+2*v.scrape)
}

// share refuses shares that cannot be exceeded.
func (v *validation) share(key, of string, share float64, enabled bool) {
	v.require(!enabled || share >= 0 && share < 1, key, "%v is no share that %s can exceed; use 0 to 0.99", share, of)
}

// distinct refuses two rules whose alerts could not be told apart.
func (v *validation) distinct(key string, critical, warning Firing) {
	v.require(!critical.Enabled || !warning.Enabled || critical.Severity != warning.Severity, key,
		"%s is the severity of critical too, so the two could not be told apart; use another, or switch one off", warning.Severity)
}

// errorShare checks one severity of BackendErrors.
func (v *validation) errorShare(key string, window model.Duration, s ErrorShare) {
	v.firing(key, s.Firing)
	v.holdFits(key, window, s.Firing)
	v.share(key+".share", "attempts", s.Share, s.Enabled)
}

// windowed checks an alert that counts events in a window.
func (v *validation) windowed(key string, window model.Duration, f Firing) {
	v.firing(key, f)
	v.holdsSamples(key+".window", window, f.Enabled)
	v.holdFits(key, window, f)
}

func (v *validation) firing(key string, f Firing) {
	if !f.Enabled {
		return
	}
	v.require(f.Severity != "" && !strings.Contains(f.Severity, "{{"), key+".severity", "%q is no severity; use one such as warning or critical", f.Severity)
	v.require(f.For >= 0, key+".for", "%s is negative; use 0 to fire at once", f.For)
	v.require(f.KeepFiringFor >= 0, key+".keepFiringFor", "%s is negative; use 0 to resolve at once", f.KeepFiringFor)
}

// holdsSamples refuses windows in which increase has nothing to compare.
func (v *validation) holdsSamples(key string, window model.Duration, enabled bool) {
	v.require(!enabled || window >= 2*v.scrape, key, "%s holds fewer than two samples at scrapeInterval %s, so the alert could never fire; use at least %s", window, v.scrape, 2*v.scrape)
}

// holdFits refuses a hold that one burst of events cannot outlast.
func (v *validation) holdFits(key string, window model.Duration, f Firing) {
	v.require(!f.Enabled || 2*f.For <= window, key+".for", "%s is longer than half of the window of %s, so events would leave the window before the alert fires; use at most %s", f.For, window, half(window))
}

func (v *validation) atLeastOne(key string, n int, enabled bool) {
	v.require(!enabled || n >= 1, key, "%d is too few; use at least 1", n)
}

func half(d model.Duration) model.Duration {
	return model.Duration((time.Duration(d) / 2).Truncate(time.Millisecond))
}

// parseTemplate parses an annotation as Prometheus does when it loads a rule.
func parseTemplate(text string) error {
	text = "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}" + text
	return template.NewTemplateExpander(context.Background(), text, "annotation", nil, 0, nil, nil, nil).ParseTest()
}

func validLabel(name string) bool {
	return model.LegacyValidation.IsValidLabelName(name) && name != model.MetricNameLabel
}

func list(s []string) string {
	if len(s) == 0 {
		return "[]"
	}
	return strings.Join(s, ", ")
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
