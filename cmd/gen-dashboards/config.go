package main

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/dashboards"
)

// config is the configuration file. Settings that rules and dashboards share are in
// it once: the scope, the recording rules, the runbooks' address and the
// dashboard's uid.
type config struct {
	Source     alerts.Source     `yaml:"source"`
	Scope      scope             `yaml:"scope"`
	Recording  bool              `yaml:"recording"`
	Alerts     alertSection      `yaml:"alerts"`
	Dashboards dashboards.Config `yaml:"dashboards"`

	KubeStateMetrics alerts.KubeStateMetricsKnobs `yaml:"kubeStateMetrics"`

	Kubernetes      kubernetes            `yaml:"kubernetes"`
	GrafanaAlerting alerts.GrafanaManaged `yaml:"grafanaAlerting"`
	Mimir           mimirSection          `yaml:"mimir"`
	Alertmanager    alerts.Routing        `yaml:"alertmanager"`
}

type mimirSection struct {
	Namespace string `yaml:"namespace"`
}

type scope struct {
	Labels         []string       `yaml:"labels"`
	Reporter       []string       `yaml:"reporter"`
	Holder         string         `yaml:"holder"`
	Selector       string         `yaml:"selector"`
	MetricPrefix   string         `yaml:"metricPrefix"`
	ScrapeInterval model.Duration `yaml:"scrapeInterval"`
	// Histograms is the form that rules read; dashboards show both forms.
	Histograms alerts.Histograms `yaml:"histograms"`
}

// alertSection is alerts.Config without the settings of other sections.
type alertSection struct {
	Group            alerts.Group      `yaml:"group"`
	SeverityLabel    string            `yaml:"severityLabel"`
	Labels           map[string]string `yaml:"labels"`
	Annotations      map[string]string `yaml:"annotations"`
	RunbookBaseURL   string            `yaml:"runbookBaseURL"`
	DashboardBaseURL string            `yaml:"dashboardBaseURL"`
	alerts.Alerts    `yaml:",inline"`
}

func defaultConfig() config {
	a := alerts.Default()
	return config{
		Source: a.Source, KubeStateMetrics: a.KubeStateMetrics,
		Scope: scope{Labels: a.ScopeLabels, Reporter: a.ReporterLabels, Holder: a.HolderLabel, Selector: a.Selector, MetricPrefix: a.MetricPrefix, ScrapeInterval: a.ScrapeInterval, Histograms: a.Histograms},
		Alerts: alertSection{
			Group: a.Group, SeverityLabel: a.SeverityLabel, Labels: a.Labels, Annotations: a.Annotations,
			RunbookBaseURL: a.RunbookBaseURL, DashboardBaseURL: a.DashboardBaseURL, Alerts: a.Alerts,
		},
		Dashboards:      dashboards.Default(),
		Kubernetes:      defaultKubernetes(),
		GrafanaAlerting: alerts.DefaultGrafanaManaged(),
		Mimir:           mimirSection{Namespace: "leaderscope"},
		Alertmanager:    alerts.DefaultRouting(),
	}
}

// rules is the configuration of the alerting rules.
func (c config) rules() alerts.Config {
	return alerts.Config{
		Source: c.Source, KubeStateMetrics: c.KubeStateMetrics,
		ScopeLabels: c.Scope.Labels, ReporterLabels: c.Scope.Reporter, HolderLabel: c.Scope.Holder, Selector: c.Scope.Selector, ScrapeInterval: c.Scope.ScrapeInterval,
		MetricPrefix: c.Scope.MetricPrefix, Histograms: c.Scope.Histograms,
		Group: c.Alerts.Group, SeverityLabel: c.Alerts.SeverityLabel, Labels: c.Alerts.Labels, Annotations: c.Alerts.Annotations,
		RunbookBaseURL: c.Alerts.RunbookBaseURL, DashboardBaseURL: c.Alerts.DashboardBaseURL, DashboardUID: c.Dashboards.UID,
		LockDashboardUID: c.Dashboards.Lock.UID, BackendsDashboardUID: c.Dashboards.Backends.UID, SourceDashboardUID: c.sourceBoard().UID,
		Recording: c.Recording, Alerts: c.Alerts.Alerts,
	}
}

// sourceBoard is the only dashboard of a foreign source.
func (c config) sourceBoard() dashboards.Identity {
	switch c.Source {
	case alerts.ClientGo:
		return c.Dashboards.ClientGo
	case alerts.KubeStateMetrics:
		return c.Dashboards.KubeStateMetrics
	}
	return dashboards.Identity{}
}

// longestBoards follow the names of objects that hold a dashboard.
var longestBoards = map[alerts.Source]string{alerts.Leaderscope: "-overview", alerts.ClientGo: "-client-go", alerts.KubeStateMetrics: "-leases"}

// sourceKey is the key of sourceBoard.
func (c config) sourceKey() string {
	if c.Source == alerts.ClientGo {
		return "clientGo"
	}
	return "kubeStateMetrics"
}

// boards is the configuration of the dashboards, which draw the limits of the
// alerts.
func (c config) boards() dashboards.Config {
	b := c.Dashboards
	b.RunbookURL, b.Recording, b.Source = c.Alerts.RunbookBaseURL, c.Recording, dashboards.Source(c.Source)
	b.Scope = dashboards.Scope{
		Labels: c.Scope.Labels, Reporter: c.Scope.Reporter, Holder: c.Scope.Holder, Selector: c.Scope.Selector, ScrapeInterval: time.Duration(c.Scope.ScrapeInterval), MetricPrefix: c.Scope.MetricPrefix,
		Histograms: string(c.Scope.Histograms),
	}
	backend := c.Alerts.BackendErrors
	b.Thresholds.ErrorShare, b.Thresholds.ErrorShareCritical = backend.Warning.Share, backend.Critical.Share
	b.Thresholds.ErrorWindow, b.Thresholds.MinErrors = time.Duration(backend.Window), backend.MinErrors
	b.Thresholds.LeaseWindow, b.Thresholds.Headroom = time.Duration(c.Alerts.NearLease.Window), c.Alerts.LowHeadroom.Share
	b.Thresholds.StaleAfter, b.Thresholds.VacantLookback = time.Duration(c.KubeStateMetrics.StaleAfter), time.Duration(c.Alerts.Vacant.Lookback)
	return b
}

// validate reports every invalid key as the file spells it, as [*keyError] joined
// with [errors.Join]. If rules and dashboards refuse the same key, the report of
// the rules is kept.
func (c config) validate() error {
	var bad []error
	report := func(key, problem string) {
		known := func(err error) bool { return strings.HasPrefix(err.(*keyError).key+".", key+".") }
		if !slices.ContainsFunc(bad, known) {
			bad = append(bad, &keyError{key: key, problem: problem})
		}
	}
	for _, err := range joined(c.rules().Validate()) {
		e := err.(*alerts.KeyError)
		key := ruleKey(e.Key)
		if e.Key == "sourceDashboardUID" {
			key = "dashboards." + c.sourceKey() + ".uid"
		}
		bad = append(bad, &keyError{key: key, problem: e.Problem})
	}
	for _, err := range joined(c.boards().Validate()) {
		e := err.(*dashboards.KeyError)
		report(boardKey(e.Key), e.Problem)
	}
	for _, err := range joined(c.GrafanaAlerting.Validate()) {
		e := err.(*alerts.KeyError)
		report("grafanaAlerting."+e.Key, e.Problem)
	}
	for _, e := range append(c.required(), c.Kubernetes.validate(longestBoards[c.Source])...) {
		report(e.key, e.problem)
	}
	return errors.Join(bad...)
}

// required reports keys of single formats that must not be empty but are.
func (c config) required() (bad []*keyError) {
	for _, k := range []struct{ key, value, example string }{
		{"mimir.namespace", c.Mimir.Namespace, "leaderscope"},
		{"alertmanager.receiver", c.Alertmanager.Receiver, "leader-election"},
		{"alertmanager.pageReceiver", c.Alertmanager.PageReceiver, "leader-election-page"},
		{"alertmanager.pageSeverity", c.Alertmanager.PageSeverity, "critical"},
	} {
		if strings.TrimSpace(k.value) == "" {
			bad = append(bad, &keyError{key: k.key, problem: "must not be empty; use a name such as " + k.example})
		}
	}
	return bad
}

// ruleKey is the key in the file for a setting of alerts.Config.
func ruleKey(key string) string {
	moved := map[string]string{
		"scopeLabels": "scope.labels", "reporterLabels": "scope.reporter", "holderLabel": "scope.holder", "selector": "scope.selector",
		"scrapeInterval": "scope.scrapeInterval", "metricPrefix": "scope.metricPrefix", "histograms": "scope.histograms", "recording": "recording", "source": "source", "dashboardUID": "dashboards.uid", "lockDashboardUID": "dashboards.lock.uid", "backendsDashboardUID": "dashboards.backends.uid",
	}
	if to, ok := moved[key]; ok {
		return to
	}
	if strings.HasPrefix(key, "kubeStateMetrics.") {
		return key
	}
	return "alerts." + strings.TrimPrefix(key, "alerts.")
}

// boardKey is the key in the file for a setting of dashboards.Config.
func boardKey(key string) string {
	switch {
	case key == "thresholds":
		return "alerts.backendErrors"
	case key == "staleAfter":
		return "kubeStateMetrics.staleAfter"
	case key == "vacantLookback":
		return "alerts.vacant.lookback"
	case key == "runbookURL":
		return "alerts.runbookBaseURL"
	case strings.HasPrefix(key, "scope."):
		return key
	}
	return "dashboards." + key
}
