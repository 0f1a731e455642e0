package alerts

import (
	"time"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
)

// Config holds all settings of the rules. Start from [Default]: [Config.Validate]
// refuses the zero value. Durations use the notation of Prometheus: 90s, 5m,
// 1h30m.
type Config struct {
	// Source is the exporter of the series. A foreign source allows fewer rules; the
	// settings of the alerts that it does not allow have no effect.
	Source Source `yaml:"source"`
	// KubeStateMetrics is for the source of that name.
	KubeStateMetrics KubeStateMetricsKnobs `yaml:"kubeStateMetrics"`
	// ScopeLabels identify a lock across replicas; they must contain lock_name. The
	// others are labels of scrape targets: if clusters share a lock, remove cluster;
	// if two jobs share it, remove job. A label that no series has does no harm.
	ScopeLabels []string `yaml:"scopeLabels"`
	// ReporterLabels are those of ScopeLabels that identify the process that reports
	// the state of a backend, and not the lock: an observer has a job and a
	// namespace of its own. A label that is not a scope label does no harm.
	ReporterLabels []string `yaml:"reporterLabels"`
	// HolderLabel identifies a replica: instance, or pod on Kubernetes. Every series
	// must have it; otherwise replicas merge and SplitBrain cannot fire.
	HolderLabel string `yaml:"holderLabel"`
	// Selector restricts the rules to matching series, as in job=~"a|b".
	// Matchers on lock_name exclude series without a lock.
	Selector string `yaml:"selector"`
	// MetricPrefix is the prefix or namespace that an exporter adds to all metric
	// names: with shop_, they are shop_leader_active and so on.
	MetricPrefix string `yaml:"metricPrefix"`
	// ScrapeInterval is the time between samples: of the scrape, or of the
	// push on push pipelines. The rules are the same for all values from 15s to
	// 60s.
	ScrapeInterval model.Duration `yaml:"scrapeInterval"`
	// Histograms is the form of histograms that rules read.
	Histograms Histograms `yaml:"histograms"`
	// Group is the rule group that the rules go into.
	Group Group `yaml:"group"`
	// Recording adds a group of recording rules, which dashboards with the same
	// configuration read. With many locks, this is cheaper than reading the series
	// of each replica.
	Recording bool `yaml:"recording"`
	// SeverityLabel is the label that carries the severity.
	SeverityLabel string `yaml:"severityLabel"`
	// Labels and Annotations are added to every alert.
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
	// RunbookBaseURL is the address to which /LeaderElection<Name>.md is appended;
	// empty: no runbook_url.
	RunbookBaseURL string `yaml:"runbookBaseURL"`
	// DashboardBaseURL is Grafana's address; empty: no dashboard_url.
	DashboardBaseURL string `yaml:"dashboardBaseURL"`
	// DashboardUID is the uid of the overview dashboard, to which alerts about a job
	// link; empty: no links to its panels.
	DashboardUID string `yaml:"dashboardUID"`
	// LockDashboardUID is the uid of the dashboard of one lock, to which alerts about
	// a lock link; empty: no links to its panels.
	LockDashboardUID string `yaml:"lockDashboardUID"`
	// BackendsDashboardUID is the uid of the dashboard of the backends, to which
	// alerts about them link; empty: no links to its panels.
	BackendsDashboardUID string `yaml:"backendsDashboardUID"`
	// SourceDashboardUID is the uid of the dashboard of a foreign source, to which its
	// alerts link; empty: no links to its panels.
	SourceDashboardUID string `yaml:"sourceDashboardUID"`
	// Alerts has the settings of each alert.
	Alerts Alerts `yaml:"alerts"`
}

// Group is a rule group.
type Group struct {
	Name string `yaml:"name"`
	// Interval is the time between evaluations; 0 uses the server's default.
	Interval model.Duration `yaml:"interval"`
}

// Alerts has the settings of each alert, in the order of the rules file.
type Alerts struct {
	NoAcquisition NoAcquisition `yaml:"noAcquisition"`
	NoLeader      NoLeader      `yaml:"noLeader"`
	SplitBrain    SplitBrain    `yaml:"splitBrain"`
	Overlap       Overlap       `yaml:"overlap"`
	Flapping      Flapping      `yaml:"flapping"`
	BackendErrors BackendErrors `yaml:"backendErrors"`

	RenewalFailures RenewalFailures `yaml:"renewalFailures"`
	NearLease       NearLease       `yaml:"nearLease"`
	LeaseExceeded   LeaseExceeded   `yaml:"leaseExceeded"`
	LowHeadroom     LowHeadroom     `yaml:"lowHeadroom"`
	WorkAfterLoss   WorkAfterLoss   `yaml:"workAfterLoss"`

	JobOverdue     JobOverdue     `yaml:"jobOverdue"`
	TaskFailing    TaskFailing    `yaml:"taskFailing"`
	TokenRegressed TokenRegressed `yaml:"tokenRegressed"`
	StaleWrite     StaleWrite     `yaml:"staleWrite"`
	NoStandby      NoStandby      `yaml:"noStandby"`
	AttemptStuck   AttemptStuck   `yaml:"attemptStuck"`

	Vacant        Vacant        `yaml:"vacant"`
	Impostor      Impostor      `yaml:"impostor"`
	ObserverBlind ObserverBlind `yaml:"observerBlind"`

	MetricsAbsent MetricsAbsent `yaml:"metricsAbsent"`
	LockVanished  LockVanished  `yaml:"lockVanished"`
	ScrapeFailing ScrapeFailing `yaml:"scrapeFailing"`

	RedactionKeyMismatch RedactionKeyMismatch `yaml:"redactionKeyMismatch"`
	LabelOverflow        LabelOverflow        `yaml:"labelOverflow"`
}

// Histograms is a form of histograms.
type Histograms string

// The forms of histograms that rules can read.
const (
	// Classic histograms are read by every server.
	Classic Histograms = "classic"
	// Native histograms are supported by Prometheus since 2.40. VictoriaMetrics does
	// not support them, and refuses a file with their functions.
	Native Histograms = "native"
	// Both reads classic histograms first.
	Both Histograms = "both"
)

// Severities of the default configuration.
const (
	critical = "critical"
	warning  = "warning"
)

// Default returns the configuration of the generated files: a scrape interval of
// 30 s, and instance as the label of a replica.
func Default() Config {
	c := Config{
		Source:           Leaderscope,
		KubeStateMetrics: KubeStateMetricsKnobs{StaleAfter: span(90)},
		ScopeLabels:      []string{"cluster", "namespace", "job", catalog.LockName.Name()},
		ReporterLabels:   []string{"namespace", "job"},
		HolderLabel:      "instance",
		ScrapeInterval:   model.Duration(30 * time.Second),
		Histograms:       Classic,
		Group:            Group{Name: "leader-election"},
		SeverityLabel:    "severity",
		RunbookBaseURL:   "https://github.com/leaderscope/leaderscope/blob/main/alerts/runbooks",
		DashboardBaseURL: "",
		DashboardUID:     panel.OverviewUID,
		LockDashboardUID: panel.LockUID,

		BackendsDashboardUID: panel.BackendsUID,
	}
	c.Alerts.each(func(_ string, a alert) { a.preset() })
	return c
}

// slowInterval is the time between evaluations of rules that have a long lookback
// and do not page.
var slowInterval = minutes(2)

func minutes(n int) model.Duration { return model.Duration(time.Duration(n) * time.Minute) }

func span(seconds int) model.Duration { return model.Duration(time.Duration(seconds) * time.Second) }

func fires(severity string, holdMinutes, keepMinutes int) Firing {
	return firesAfter(severity, 60*holdMinutes, keepMinutes)
}

func firesAfter(severity string, holdSeconds, keepMinutes int) Firing {
	return Firing{Enabled: true, Severity: severity, For: span(holdSeconds), KeepFiringFor: minutes(keepMinutes)}
}
