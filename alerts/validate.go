package alerts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/template"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// KeyError is an invalid setting.
type KeyError struct {
	// Key is its path, as in alerts.noLeader.lookback.
	Key string
	// Problem is one line: the value, what is wrong, and the remedy.
	Problem string
}

func (e *KeyError) Error() string { return e.Key + ": " + e.Problem }

// Validate reports every invalid setting on a line that starts with its key; the
// lines are of type [*KeyError], joined with [errors.Join]. It also refuses
// combinations with which an alert could never fire.
func (c Config) Validate() error {
	v := &validation{config: c}
	v.source()
	v.scope()
	v.selector()
	v.group()
	v.texts()
	v.links()
	c.Alerts.each(func(key string, a alert) { a.validate(check{v, "alerts." + key}) })
	v.recording()
	return errors.Join(v.errs...)
}

// validation collects errors.
type validation struct {
	config Config
	errs   []error
}

func (v *validation) require(ok bool, key, format string, args ...any) {
	if !ok {
		v.errs = append(v.errs, &KeyError{Key: key, Problem: fmt.Sprintf(format, args...)})
	}
}

// reported says whether an error of a key has been reported.
func (v *validation) reported(key string) bool {
	return slices.ContainsFunc(v.errs, func(err error) bool { return strings.HasPrefix(err.Error(), key+": ") })
}

// longestSample is half of the time after which Prometheus treats a series as gone:
// one missed sample must not interrupt a series.
const longestSample = model.Duration(150 * time.Second)

func (v *validation) source() {
	c := v.config
	v.require(slices.Contains(Sources(), c.Source), "source", "%q is not a known source; use %s, %s or %s", c.Source, Leaderscope, ClientGo, KubeStateMetrics)
	v.require(c.KubeStateMetrics.StaleAfter > 0, "kubeStateMetrics.staleAfter", "%s is not a positive duration; use one that is longer than every lease, such as 90s", c.KubeStateMetrics.StaleAfter)
	v.require(!c.Source.Foreign() || !c.Recording, "recording", "source %s has no recording rules; use recording: false", c.Source)
}

func (v *validation) scope() {
	c, lock := v.config, catalog.LockName.Name()
	v.require(slices.Contains(c.ScopeLabels, lock), "scopeLabels", "%s lack %s; without it different locks merge into one", list(c.ScopeLabels), lock)
	for i, l := range c.ScopeLabels {
		v.require(validLabel(l), "scopeLabels", "%q is not a valid label name; use letters, digits and _", l)
		v.require(!seriesLabels()[l], "scopeLabels", "%s is a label of some of the metrics only; use labels of the targets", l)
		v.require(!slices.Contains(c.ScopeLabels[:i], l), "scopeLabels", "%s is listed twice; remove one", l)
	}
	v.require(!slices.Contains(c.ReporterLabels, lock), "reporterLabels", "%s contain %s, which identifies the lock; remove it", list(c.ReporterLabels), lock)
	for _, l := range c.ReporterLabels {
		v.require(validLabel(l), "reporterLabels", "%q is not a valid label name; use letters, digits and _", l)
	}
	v.require(validLabel(c.HolderLabel), "holderLabel", "%q is not a valid label name; use the label that tells replicas apart, such as instance or pod", c.HolderLabel)
	v.require(c.HolderLabel != lock && !seriesLabels()[c.HolderLabel], "holderLabel", "%s does not tell replicas apart; use a label such as instance or pod", c.HolderLabel)
	v.require(!slices.Contains(c.ScopeLabels, c.HolderLabel), "holderLabel", "%s is a scope label too, so each replica would be evaluated alone and SplitBrain could never fire; remove it from scopeLabels", c.HolderLabel)
	v.require(c.MetricPrefix == "" || model.LegacyValidation.IsValidMetricName(c.MetricPrefix), "metricPrefix", "%q begins no metric name; use letters, digits and _, as in shop_", c.MetricPrefix)
	v.require(c.ScrapeInterval > 0, "scrapeInterval", "%s is not a positive duration; use the time between two samples, such as 30s", c.ScrapeInterval)
	v.require(c.ScrapeInterval <= longestSample, "scrapeInterval", "%s is too long: a series ends for Prometheus 5m after its last sample, so one missed scrape would end it; use at most %s", c.ScrapeInterval, longestSample)
	v.require(c.Histograms == Classic || c.Histograms == Native || c.Histograms == Both, "histograms", "%q is not a known form of histograms; use %s, %s or %s", c.Histograms, Classic, Native, Both)
}

func (v *validation) selector() {
	c := v.config
	s, err := c.scope()
	if err != nil {
		key, problem, _ := strings.Cut(err.Error(), ": ")
		v.errs = append(v.errs, &KeyError{Key: key, Problem: problem})
		return
	}
	if c.Recording {
		for _, m := range s.Matchers {
			v.require(slices.Contains(c.ScopeLabels, m.Label), "recording",
				"the selector matches on %s, which recorded series have only if it is among the scope labels %s; add it there, or use recording: false", m.Label, list(c.ScopeLabels))
		}
	}
}

func (v *validation) group() {
	c := v.config
	v.require(c.Group.Name != "", "group.name", `"" is not a valid name; use one such as leader-election`)
	v.require(c.Group.Interval >= 0, "group.interval", "%s is negative; use 0 for the server's own", c.Group.Interval)
}

func (v *validation) texts() {
	c := v.config
	reserved := append([]string{"alertname", backendLabel, variantLabel}, c.ScopeLabels...)
	v.require(validLabel(c.SeverityLabel), "severityLabel", "%q is not a valid label name; use one such as severity", c.SeverityLabel)
	v.require(!slices.Contains(reserved, c.SeverityLabel), "severityLabel", "%s is a label that the alert already has; use another one", c.SeverityLabel)
	for _, l := range sortedKeys(c.Labels) {
		v.require(validLabel(l), "labels."+l, "%q is not a valid label name; use letters, digits and _", l)
		v.require(!slices.Contains(append(reserved, c.SeverityLabel), l), "labels."+l, "%s is a label that the alert already has; use another name", l)
		v.require(!strings.Contains(c.Labels[l], "{{"), "labels."+l, "%q is a template, which would change the identity of an alert; use an annotation instead", c.Labels[l])
	}
	ours := []string{"summary", "description", "runbook_url", "dashboard_url", "__dashboardUid__", "__panelId__"}
	for _, a := range sortedKeys(c.Annotations) {
		v.require(validLabel(a), "annotations."+a, "%q is not a valid annotation name; use letters, digits and _", a)
		v.require(!slices.Contains(ours, a), "annotations."+a, "%s is written by the rules; use another name", a)
		err := parseTemplate(c.Annotations[a])
		v.require(err == nil, "annotations."+a, "%q is not a valid Prometheus template (%v); correct it", c.Annotations[a], err)
	}
}

func (v *validation) links() {
	c := v.config
	for _, u := range []struct{ key, value string }{{"runbookBaseURL", c.RunbookBaseURL}, {"dashboardBaseURL", c.DashboardBaseURL}} {
		v.require(u.value == "" || strings.HasPrefix(u.value, "https://") || strings.HasPrefix(u.value, "http://"),
			u.key, "%q is not a web address; start it with https:// or leave it empty", u.value)
		v.require(!strings.ContainsAny(u.value, "{} \n"), u.key, "%q has braces or spaces; write them as %%7B or %%20", u.value)
	}
	for key, uid := range map[string]string{"dashboardUID": c.DashboardUID, "lockDashboardUID": c.LockDashboardUID, "backendsDashboardUID": c.BackendsDashboardUID, "sourceDashboardUID": c.SourceDashboardUID} {
		v.require(len(uid) <= 40 && !strings.ContainsAny(uid, "{}/?# \n"), key, "%q is not a valid uid; use at most 40 letters, digits, - and _", uid)
	}
}

// recording refuses intervals at which recorded series would have gaps.
func (v *validation) recording() {
	c := v.config
	if !c.Recording {
		return
	}
	v.require(c.Group.Interval <= longestSample, "group.interval",
		"%s is too long for recorded series, which would have gaps; use at most %s, or recording: false", c.Group.Interval, longestSample)
	for key, window := range map[string]model.Duration{"backendErrors": c.Alerts.BackendErrors.Window, "nearLease": c.Alerts.NearLease.Window} {
		v.require(window >= 2*c.ScrapeInterval, "alerts."+key+".window", "%s holds fewer than two samples at scrapeInterval %s; use at least %s, or recording: false", window, c.ScrapeInterval, 2*c.ScrapeInterval)
	}
}

// check validates the settings of one alert, below its key.
type check struct {
	*validation
	prefix string
}

func (c check) below(key string) check { return check{c.validation, c.prefix + "." + key} }

func (c check) slowest() model.Duration { return c.config.slowest() }
func (c check) fresh() model.Duration   { return c.config.fresh() }

func (c check) require(ok bool, key, format string, args ...any) {
	c.validation.require(ok, c.key(key), format, args...)
}

func (c check) key(key string) string {
	if key == "" {
		return c.prefix
	}
	return c.prefix + "." + key
}

// firing checks one severity; the key is empty if the alert has only one.
func (c check) firing(key string, f Firing) {
	if !f.Enabled {
		return
	}
	if key != "" {
		c = c.below(key)
	}
	c.require(f.Severity != "" && !strings.Contains(f.Severity, "{{"), "severity", "%q is not a valid severity; use one such as warning or critical", f.Severity)
	c.require(f.For >= 0, "for", "%s is negative; use 0 to fire at once", f.For)
	c.require(f.KeepFiringFor >= 0, "keepFiringFor", "%s is negative; use 0 to resolve at once", f.KeepFiringFor)
}

// windowed checks an alert that counts events in a window.
func (c check) windowed(window model.Duration, f Firing) {
	c.firing("", f)
	c.holdsSamples("window", window, f.Enabled)
	c.holdFits("", window, f)
	c.evaluated("window", window, f.Enabled)
}

// holdsSamples refuses windows with fewer than two samples, which increase needs.
func (c check) holdsSamples(key string, window model.Duration, enabled bool) {
	c.require(!enabled || window >= 2*c.slowest(), key, "%s holds fewer than two samples %s apart, so the alert could never fire; use at least %s", window, c.slowest(), 2*c.slowest())
	c.evaluated(key, window, enabled)
}

// evaluated refuses windows in which events could come and go between two
// evaluations.
func (c check) evaluated(key string, window model.Duration, enabled bool) {
	every := c.config.Group.Interval
	if !enabled || window == 0 || 2*every <= window || c.reported("group.interval") {
		return
	}
	c.validation.require(false, "group.interval",
		"%s is longer than half of %s, which is %s, so events could come and go between two evaluations; use at most %s", every, c.key(key), window, half(window))
}

// holdFits refuses a for that is longer than one burst of events stays visible.
func (c check) holdFits(key string, window model.Duration, f Firing) {
	if key != "" {
		c = c.below(key)
	}
	c.require(!f.Enabled || 2*f.For <= window, "for", "%s is longer than half of the window of %s, so events would leave the window before the alert fires; use at most %s", f.For, window, half(window))
}

// missed checks an alert about something that existed within a lookback.
func (c check) missed(lookback model.Duration, f Firing) {
	c.firing("", f)
	c.require(!f.Enabled || lookback >= f.For+2*c.slowest(), "lookback",
		"%s is not longer than for, which is %s, and two samples, so the lookback would end before the alert fires; use at least %s", lookback, f.For, f.For+2*c.slowest())
}

// interval checks how often a rule with a long window is evaluated.
func (c check) interval(interval, window model.Duration, enabled bool) {
	c.require(!enabled || interval >= 0, "interval", "%s is negative; use 0s for that of the group", interval)
	c.require(!enabled || 2*interval <= window, "interval", "%s is longer than half of the lookback of %s; use at most %s", interval, window, half(window))
}

// share refuses shares that cannot be exceeded.
func (c check) share(key, of string, share float64, enabled bool) {
	c.require(!enabled || share >= 0 && share < 1, key, "%v is not a share that %s can exceed; use 0 to 0.99", share, of)
}

// distinct refuses two rules with identical alerts.
func (c check) distinct(key string, critical, warning Firing) {
	c.require(!critical.Enabled || !warning.Enabled || critical.Severity != warning.Severity, key+".severity",
		"%s is the severity of critical too, so the two rules would have identical alerts; use another severity, or disable one rule", warning.Severity)
}

func (c check) atLeastOne(key string, n int, enabled bool) {
	c.require(!enabled || n >= 1, key, "%d is too few; use at least 1", n)
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
