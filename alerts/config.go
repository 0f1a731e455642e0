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
	// ScopeLabels tell locks apart across replicas; lock_name must be among
	// them. The others are labels that scrape targets carry too: a lock shared
	// between clusters needs cluster taken out, one shared by two jobs needs
	// job taken out. A label that no series has does no harm.
	ScopeLabels []string `yaml:"scopeLabels"`
	// HolderLabel tells replicas apart: instance, or pod on Kubernetes. Every
	// series must have it: without it replicas merge and SplitBrain is blind.
	HolderLabel string `yaml:"holderLabel"`
	// Selector restricts the rules to matching series, as in job=~"a|b".
	// Matchers on lock_name leave out series that carry no lock.
	Selector string `yaml:"selector"`
	// ScrapeInterval is the time between samples: of the scrape, or of the
	// push on push pipelines.
	ScrapeInterval model.Duration `yaml:"scrapeInterval"`
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
	// DashboardBaseURL is Grafana's address; empty: dashboard_url is a path.
	DashboardBaseURL string `yaml:"dashboardBaseURL"`
	// DashboardUID is the overview dashboard's uid; empty: no links to panels.
	DashboardUID string `yaml:"dashboardUID"`
	// Alerts are the alerts' own knobs.
	Alerts Alerts `yaml:"alerts"`
}

// Group is a rule group.
type Group struct {
	Name string `yaml:"name"`
	// Interval is the time between evaluations; 0: the server's own.
	Interval model.Duration `yaml:"interval"`
}

// Alerts are the knobs of each alert.
type Alerts struct {
	NoAcquisition NoAcquisition `yaml:"noAcquisition"`
	NoLeader      NoLeader      `yaml:"noLeader"`
	SplitBrain    SplitBrain    `yaml:"splitBrain"`
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

	MetricsAbsent MetricsAbsent `yaml:"metricsAbsent"`
	LockVanished  LockVanished  `yaml:"lockVanished"`
	ScrapeFailing ScrapeFailing `yaml:"scrapeFailing"`

	RedactionKeyMismatch RedactionKeyMismatch `yaml:"redactionKeyMismatch"`
	LabelOverflow        LabelOverflow        `yaml:"labelOverflow"`
}

// Firing says whether and how an alert fires once its expression is true.
type Firing struct {
	Enabled  bool   `yaml:"enabled"`
	Severity string `yaml:"severity"`
	// For is how long the expression must be true; 0: at once.
	For model.Duration `yaml:"for"`
	// KeepFiringFor is how long the alert outlives its expression; 0: not.
	KeepFiringFor model.Duration `yaml:"keepFiringFor"`
}

// NoAcquisition: attempts are made and none wins.
type NoAcquisition struct {
	Firing `yaml:",inline"`
	// Window is looked at for attempts and wins. Locks that declare an
	// interval longer than half of it are left out.
	Window model.Duration `yaml:"window"`
}

// NoLeader: a lock that is meant to be held has no holder.
type NoLeader struct {
	// LeaseFactor times the lease is how long a lock may go without a leader
	// before For begins; 0: For alone decides.
	LeaseFactor float64 `yaml:"leaseFactor"`
	// Lookback bounds the search for the last leader, and with it the longest
	// tolerance that LeaseFactor can give.
	Lookback model.Duration `yaml:"lookback"`
	// DeadAfter is how long a target must have been down to be taken for dead:
	// until then the leader may be alive there, after that it hides no page.
	DeadAfter model.Duration `yaml:"deadAfter"`
	// Critical fires while no target went down within DeadAfter.
	Critical Firing `yaml:"critical"`
	// Warning fires while one did.
	Warning Firing `yaml:"warning"`
}

// SplitBrain: more leaders than the elector allows.
type SplitBrain struct {
	Firing `yaml:",inline"`
	// Window is how long a replica must claim the lock in every sample before
	// it counts.
	Window model.Duration `yaml:"window"`
}

// Flapping: leadership of a held lock changes hands too often.
type Flapping struct {
	Firing `yaml:",inline"`
	Window model.Duration `yaml:"window"`
	// Handovers in the window are tolerated; so are one more than there are
	// replicas, whichever is more: a rolling restart moves the leader once a
	// replica.
	Handovers int `yaml:"handovers"`
}

// BackendErrors: too many attempts meet a backend error.
type BackendErrors struct {
	Window model.Duration `yaml:"window"`
	// Recent is the time within which the last error must lie: an outage
	// that is over does not page.
	Recent model.Duration `yaml:"recent"`
	// MinErrors is the least number of errors in the window.
	MinErrors int `yaml:"minErrors"`
	// Critical fires only while nobody leads.
	Critical ErrorShare `yaml:"critical"`
	Warning  ErrorShare `yaml:"warning"`
}

// ErrorShare is one severity of BackendErrors.
type ErrorShare struct {
	Firing `yaml:",inline"`
	// Share of attempts, from 0 to 1, above which the alert fires.
	Share float64 `yaml:"share"`
}

// RenewalFailures: renewals of a lease fail, and the lease goes on running.
type RenewalFailures struct {
	Firing `yaml:",inline"`
	Window model.Duration `yaml:"window"`
	// Recent is the time within which the last failure must lie.
	Recent model.Duration `yaml:"recent"`
	// MinFailures is the least number of failures in the window.
	MinFailures int `yaml:"minFailures"`
	// Share of renewals, from 0 to 1, above which the alert fires.
	Share float64 `yaml:"share"`
}

// NearLease: runs or renewals came close to the end of their lease.
type NearLease struct {
	Firing `yaml:",inline"`
	Window model.Duration `yaml:"window"`
	// MinTimes is how often it must happen in the window.
	MinTimes int `yaml:"minTimes"`
}

// LeaseExceeded: terms ran past the end of their lease.
type LeaseExceeded struct {
	Firing `yaml:",inline"`
	Window model.Duration `yaml:"window"`
	// MinTimes is how often it must happen in the window.
	MinTimes int `yaml:"minTimes"`
}

// LowHeadroom: a lease that is held now runs out. NearLease is about leases
// that were renewed or given back late.
type LowHeadroom struct {
	Firing `yaml:",inline"`
	// Share of the lease, from 0 to 1, below which the alert fires.
	Share float64 `yaml:"share"`
}

// WorkAfterLoss: a guarded body went on after its lock was gone.
type WorkAfterLoss struct {
	Firing `yaml:",inline"`
	Window model.Duration `yaml:"window"`
	// Tolerance is how much work after loss one replica may do in the window:
	// noticing a loss takes a moment.
	Tolerance model.Duration `yaml:"tolerance"`
}

// JobOverdue: a lock with a declared interval was not acquired in time.
type JobOverdue struct {
	Firing `yaml:",inline"`
	// Intervals may pass since the last acquisition.
	Intervals float64 `yaml:"intervals"`
	// Grace is added to that: for the time until a scrape, and for clocks
	// that differ.
	Grace model.Duration `yaml:"grace"`
	// Lookback bounds the search for acquisitions by replicas that are gone.
	// Only intervals well below it can be judged across a rollout.
	Lookback model.Duration `yaml:"lookback"`
	// Interval is the time between evaluations, which read the samples of all
	// of the lookback; 0: that of the group.
	Interval model.Duration `yaml:"interval"`
}

// TaskFailing: guarded bodies return errors or panic.
type TaskFailing struct {
	Firing `yaml:",inline"`
	Window model.Duration `yaml:"window"`
	// MinFailures is the least number of failures in the window.
	MinFailures int `yaml:"minFailures"`
	// Share of runs, from 0 to 1, above which the alert fires.
	Share float64 `yaml:"share"`
}

// TokenRegressed: a fencing token was lower than one before it.
type TokenRegressed struct {
	Firing `yaml:",inline"`
	Window model.Duration `yaml:"window"`
}

// MetricsAbsent: no replica exports anything about leader election.
type MetricsAbsent struct {
	Firing `yaml:",inline"`
	// Lookback bounds how long a job that had metrics is missed.
	Lookback model.Duration `yaml:"lookback"`
}

// LockVanished: a lock that was led, or was declared to run, has no series any
// more, while its job has.
type LockVanished struct {
	Firing `yaml:",inline"`
	// Lookback bounds how long a lock is missed.
	Lookback model.Duration `yaml:"lookback"`
}

// ScrapeFailing: replicas that exported metrics cannot be scraped.
type ScrapeFailing struct {
	Firing `yaml:",inline"`
	// Lookback bounds how long a replica that is down is missed.
	Lookback model.Duration `yaml:"lookback"`
}

// RedactionKeyMismatch: replicas of a job turn lock names into labels in
// different ways. For must be longer than a rollout takes, for a change of the
// key shows both while it lasts.
type RedactionKeyMismatch struct {
	Firing `yaml:",inline"`
}

// LabelOverflow: locks share the overflow label, because there are more than
// the cap on labels allows.
type LabelOverflow struct {
	Firing `yaml:",inline"`
	Window model.Duration `yaml:"window"`
}

// Severities of the default configuration.
const (
	critical = "critical"
	warning  = "warning"
)

// Default returns the configuration that the generated files are made with:
// scrape every 30 s, targets told apart by instance.
func Default() Config {
	return Config{
		ScopeLabels:      []string{"cluster", "namespace", "job", catalog.LockName.Name()},
		HolderLabel:      "instance",
		ScrapeInterval:   model.Duration(30 * time.Second),
		Group:            Group{Name: "leader-election"},
		SeverityLabel:    "severity",
		RunbookBaseURL:   "https://github.com/leaderscope/leaderscope/blob/main/alerts/runbooks",
		DashboardBaseURL: "",
		DashboardUID:     panel.OverviewUID,
		Alerts: Alerts{
			NoAcquisition: NoAcquisition{Firing: fires(warning, 5, 10), Window: minutes(10)},
			// The warning is kept until the critical alert takes over from it.
			NoLeader: NoLeader{
				LeaseFactor: 2, Lookback: minutes(15), DeadAfter: minutes(15),
				Critical: fires(critical, 2, 0), Warning: fires(warning, 5, 3),
			},
			SplitBrain: SplitBrain{Firing: fires(critical, 1, 5), Window: minutes(1)},
			Flapping:   Flapping{Firing: fires(warning, 1, 15), Window: minutes(15), Handovers: 4},
			BackendErrors: BackendErrors{
				Window: minutes(10), Recent: minutes(4), MinErrors: 3,
				Critical: ErrorShare{Firing: fires(critical, 5, 0), Share: 0.5},
				Warning:  ErrorShare{Firing: fires(warning, 5, 0), Share: 0.1},
			},
			// The hold is longer than recent: an outage of less than a minute,
			// which a lease outlives or not, is no trend.
			RenewalFailures: RenewalFailures{Firing: fires(warning, 3, 5), Window: minutes(10), Recent: minutes(2), MinFailures: 3, Share: 0.1},

			NearLease:     NearLease{Firing: fires(warning, 0, 15), Window: minutes(30), MinTimes: 1},
			LeaseExceeded: LeaseExceeded{Firing: fires(critical, 0, 15), Window: minutes(30), MinTimes: 1},
			LowHeadroom:   LowHeadroom{Firing: fires(warning, 1, 5), Share: 0.2},
			WorkAfterLoss: WorkAfterLoss{Firing: fires(critical, 0, 15), Window: minutes(30), Tolerance: model.Duration(5 * time.Second)},

			// The lookback is longer than a day and a half, which is when a
			// daily job is overdue.
			JobOverdue: JobOverdue{Firing: fires(warning, 0, 0), Intervals: 1.5, Grace: minutes(2), Lookback: minutes(48 * 60), Interval: minutes(5)},

			TaskFailing:    TaskFailing{Firing: fires(warning, 0, 15), Window: minutes(60), MinFailures: 1, Share: 0.1},
			TokenRegressed: TokenRegressed{Firing: fires(critical, 0, 15), Window: minutes(30)},

			MetricsAbsent: MetricsAbsent{Firing: fires(warning, 10, 0), Lookback: minutes(60)},
			LockVanished:  LockVanished{Firing: fires(warning, 10, 0), Lookback: minutes(60)},
			ScrapeFailing: ScrapeFailing{Firing: fires(warning, 5, 5), Lookback: minutes(60)},

			// A replica that misses a scrape agrees with nobody, and would resolve it.
			RedactionKeyMismatch: RedactionKeyMismatch{Firing: fires(warning, 15, 5)},
			LabelOverflow:        LabelOverflow{Firing: fires(warning, 5, 0), Window: minutes(60)},
		},
	}
}

func minutes(n int) model.Duration { return model.Duration(time.Duration(n) * time.Minute) }

func fires(severity string, holdMinutes, keepMinutes int) Firing {
	return Firing{Enabled: true, Severity: severity, For: minutes(holdMinutes), KeepFiringFor: minutes(keepMinutes)}
}
