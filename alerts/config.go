package alerts

import (
	"time"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
)

// Config holds every knob of the rules. Start from [Default]: the zero value
// is refused by [Config.Validate]. Durations are written as Prometheus writes
// them: 90s, 5m, 1h30m.
type Config struct {
	// Source is whose series are read. With a foreign one, the rules are fewer,
	// and labels and knobs of the alerts that are left out do nothing.
	Source Source `yaml:"source"`
	// KubeStateMetrics is for the source of that name.
	KubeStateMetrics KubeStateMetricsKnobs `yaml:"kubeStateMetrics"`
	// ScopeLabels tell locks apart across replicas; lock_name must be among
	// them. The others are labels that scrape targets carry too: a lock shared
	// between clusters needs cluster taken out, one shared by two jobs needs
	// job taken out. A label that no series has does no harm.
	ScopeLabels []string `yaml:"scopeLabels"`
	// ReporterLabels are those of ScopeLabels that tell which process reports
	// what a backend says, and not which lock it is: an observer has a job and a
	// namespace of its own. A label that is no scope label does no harm.
	ReporterLabels []string `yaml:"reporterLabels"`
	// HolderLabel tells replicas apart: instance, or pod on Kubernetes. Every
	// series must have it: without it replicas merge and SplitBrain is blind.
	HolderLabel string `yaml:"holderLabel"`
	// Selector restricts the rules to matching series, as in job=~"a|b".
	// Matchers on lock_name leave out series that carry no lock.
	Selector string `yaml:"selector"`
	// MetricPrefix begins the names of all metrics, where an exporter adds a
	// prefix or a namespace: with shop_ they are shop_leader_active and so on.
	MetricPrefix string `yaml:"metricPrefix"`
	// ScrapeInterval is the time between samples: of the scrape, or of the
	// push on push pipelines. Rules for 15s to 60s are the same and hold for
	// all of them.
	ScrapeInterval model.Duration `yaml:"scrapeInterval"`
	// Histograms is the form of histograms that rules read.
	Histograms Histograms `yaml:"histograms"`
	// Group is the rule group that the rules go into.
	Group Group `yaml:"group"`
	// Recording adds a group of recording rules, which dashboards of the same
	// configuration read: cheaper than the series of each replica where locks
	// are many.
	Recording bool `yaml:"recording"`
	// SeverityLabel is the label that carries the severity.
	SeverityLabel string `yaml:"severityLabel"`
	// Labels and Annotations are added to every alert.
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
	// RunbookBaseURL is what /LeaderElection<Name>.md is appended to; empty:
	// no runbook_url.
	RunbookBaseURL string `yaml:"runbookBaseURL"`
	// DashboardBaseURL is Grafana's address; empty: no dashboard_url.
	DashboardBaseURL string `yaml:"dashboardBaseURL"`
	// DashboardUID is the overview dashboard's uid, to which alerts about the
	// replicas of a job lead; empty: no links to panels.
	DashboardUID string `yaml:"dashboardUID"`
	// LockDashboardUID is that of the dashboard of one lock, to which alerts
	// about a lock lead; empty: no links to its panels.
	LockDashboardUID string `yaml:"lockDashboardUID"`
	// BackendsDashboardUID is that of the dashboard of what the backends say, to
	// which alerts about that lead; empty: no links to its panels.
	BackendsDashboardUID string `yaml:"backendsDashboardUID"`
	// Alerts are the alerts' own knobs.
	Alerts Alerts `yaml:"alerts"`
}

// Group is a rule group.
type Group struct {
	Name string `yaml:"name"`
	// Interval is the time between evaluations; 0: the server's own.
	Interval model.Duration `yaml:"interval"`
}

// Alerts are the knobs of each alert, in the order of the rules file.
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
	// Native histograms are read by Prometheus since 2.40 and by no
	// VictoriaMetrics, which refuses a file with their functions.
	Native Histograms = "native"
	// Both reads classic histograms first.
	Both Histograms = "both"
)

// Severities of the default configuration.
const (
	critical = "critical"
	warning  = "warning"
)

// Default returns the configuration that the generated files are made with:
// scrape every 30 s, targets told apart by instance.
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

// slowInterval is the time between evaluations of rules that look far back and page
// no one.
var slowInterval = minutes(2)

func minutes(n int) model.Duration { return model.Duration(time.Duration(n) * time.Minute) }

func span(seconds int) model.Duration { return model.Duration(time.Duration(seconds) * time.Second) }

func fires(severity string, holdMinutes, keepMinutes int) Firing {
	return firesAfter(severity, 60*holdMinutes, keepMinutes)
}

func firesAfter(severity string, holdSeconds, keepMinutes int) Firing {
	return Firing{Enabled: true, Severity: severity, For: span(holdSeconds), KeepFiringFor: minutes(keepMinutes)}
}
