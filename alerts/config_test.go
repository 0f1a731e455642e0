package alerts

import (
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
)

func TestConfigurationsThatCannotWorkAreRefusedWithALineForEachKey(t *testing.T) {
	cases := map[string]struct {
		change func(*Config)
		want   string
	}{
		"scope without the lock": {func(c *Config) { c.ScopeLabels = []string{"job"} },
			"scopeLabels: job lack lock_name; without it different locks merge into one"},
		"no scope": {func(c *Config) { c.ScopeLabels = nil },
			"scopeLabels: [] lack lock_name; without it different locks merge into one"},
		"a scope label that is none": {func(c *Config) { c.ScopeLabels = []string{"lock_name", "k8s.pod"} },
			`scopeLabels: "k8s.pod" is not a valid label name; use letters, digits and _`},
		"a scope label of some metrics": {func(c *Config) { c.ScopeLabels = []string{"lock_name", "reason"} },
			"scopeLabels: reason is a label of some of the metrics only; use labels of the targets"},
		"a scope label twice": {func(c *Config) { c.ScopeLabels = []string{"lock_name", "job", "job"} },
			"scopeLabels: job is listed twice; remove one"},
		"no holder": {func(c *Config) { c.HolderLabel = "" },
			`holderLabel: "" is not a valid label name; use the label that tells replicas apart, such as instance or pod`},
		"the lock as holder": {func(c *Config) { c.HolderLabel = "lock_name" },
			"holderLabel: lock_name does not tell replicas apart; use a label such as instance or pod\nholderLabel: lock_name is a scope label too, so each replica would be evaluated alone and SplitBrain could never fire; remove it from scopeLabels"},
		"the holder in scope": {func(c *Config) { c.ScopeLabels = append(c.ScopeLabels, "instance") },
			"holderLabel: instance is a scope label too, so each replica would be evaluated alone and SplitBrain could never fire; remove it from scopeLabels"},
		"a selector that is none": {func(c *Config) { c.Selector = "job=a" },
			"selector: job=a is not a valid list of label matchers (1:6: parse error: unexpected identifier \"a\" in label matching, expected string); write it as in job=~\"a|b\""},
		"a selector of some metrics": {func(c *Config) { c.Selector = `reason="timeout"` },
			`selector: reason="timeout" matches on reason, which some series lack; use labels of the targets, or lock_name`},
		"no scrape interval": {func(c *Config) { c.ScrapeInterval = 0 },
			"scrapeInterval: 0s is not a positive duration; use the time between two samples, such as 30s"},
		"a scrape interval that starves two windows": {func(c *Config) {
			c.ScrapeInterval, c.Alerts.SplitBrain.For, c.Alerts.LowHeadroom.For, c.Alerts.NoLeader.DownFor = minutes(2), minutes(3), minutes(5), minutes(4)
			c.Alerts.JobOverdue.Grace = minutes(4)
		},
			"alerts.splitBrain.window: 1m30s may hold no sample where samples are 2m apart, so the alert would come and go; use at least 2m30s\nalerts.backendErrors.recent: 3m holds fewer than two samples 2m apart, so the alert could never fire; use at least 4m\nalerts.renewalFailures.recent: 3m holds fewer than two samples 2m apart, so the alert could never fire; use at least 4m\nalerts.vacant.for: 1m is shorter than the time between two samples, 2m, so a handover that one sample shows would page; use at least 2m\nalerts.impostor.for: 1m is shorter than the time between two samples, 2m, and a handover between the samples of two processes would page; use at least 2m"},
		"a scrape interval that the server cannot see": {func(c *Config) { c.ScrapeInterval = minutes(10) },
			"scrapeInterval: 10m is too long: a series ends for Prometheus 5m after its last sample, so one missed scrape would end it; use at most 2m30s"},
		"a prefix that is none": {func(c *Config) { c.MetricPrefix = "shop-" },
			`metricPrefix: "shop-" begins no metric name; use letters, digits and _, as in shop_`},
		"a form of histograms that is none": {func(c *Config) { c.Histograms = "" },
			`histograms: "" is not a known form of histograms; use classic, native or both`},
		"a selector that smuggles a template": {func(c *Config) { c.Selector = `job="{{ .Nope }}"` },
			`selector: job="{{ .Nope }}" contains double braces, which alert templates would expand; write them as [{][{]`},
		"a label that the rules give": {func(c *Config) { c.Labels = map[string]string{"backend": "etcd"} },
			"labels.backend: backend is a label that the alert already has; use another name"},
		"a holder that is excused for one sample": {func(c *Config) { c.Alerts.NoLeader.DownFor = minutes(1) },
			"alerts.noLeader.downFor: 1m may hold no sample where samples are 1m apart, so the alert would come and go; use at least 1m15s"},
		"a negative margin": {func(c *Config) { c.Alerts.NoLeader.Margin = minutes(-1) },
			"alerts.noLeader.margin: -1m is negative; use 0s or more"},
		"one dip of a lease": {func(c *Config) { c.Alerts.LowHeadroom.For = minutes(1) },
			"alerts.lowHeadroom.for: 1m is not longer than the 1m15s for which one sample counts, so one dip would fire; use at least 1m30s"},
		"an interval longer than half of the window": {func(c *Config) { c.Alerts.Flapping.Slow.Interval = minutes(240) },
			"alerts.flapping.slow.interval: 4h is longer than half of the lookback of 6h; use at most 3h"},
		"a tolerance that leaves nothing to clocks": {func(c *Config) { c.Alerts.Overlap.Tolerance = 0 },
			"alerts.overlap.tolerance: 0s leaves nothing to clocks that differ, and every handover could fire; use the difference that your clocks keep, such as 1s"},
		"a tolerance that hides every overlap": {func(c *Config) { c.Alerts.Overlap.Tolerance = minutes(6) },
			"alerts.overlap.tolerance: 6m hides every overlap of the window of 6m; use less"},
		"a hold that outlasts an overlap": {func(c *Config) { c.Alerts.Overlap.For = minutes(4) },
			"alerts.overlap.for: 4m is longer than half of the window of 6m, so events would leave the window before the alert fires; use at most 3m"},
		"backends that are no expression": {func(c *Config) { c.Alerts.Vacant.Backends = "a(" },
			"alerts.vacant.backends: \"a(\" is not a valid regular expression (error parsing regexp: missing closing ): `^(?:a()$`); write it as in kubernetes|etcd"},
		"backends that are a template": {func(c *Config) { c.Alerts.Vacant.Backends = "{{ . }}" },
			"alerts.vacant.backends: \"{{ . }}\" contains double braces, which alert templates would expand; write them as [{][{]"},
		"a lookback that forgets a vacancy": {func(c *Config) { c.Alerts.Vacant.Lookback = minutes(2) },
			"alerts.vacant.lookback: 2m is not longer than for, which is 1m, and two samples, so the lookback would end before the alert fires; use at least 3m"},
		"a page for every handover": {func(c *Config) { c.Alerts.Impostor.For = 0 },
			"alerts.impostor.for: 0s is shorter than the time between two samples, 30s, and a handover between the samples of two processes would page; use at least 30s"},
		"an observer that is gone and forgotten": {func(c *Config) { c.Alerts.ObserverBlind.Lookback = minutes(5) },
			"alerts.observerBlind.lookback: 5m is not longer than for, which is 5m, and two samples, so the lookback would end before the alert fires; use at least 7m"},
		"no patience": {func(c *Config) { c.Alerts.AttemptStuck.Patience, c.Alerts.AttemptStuck.Factor = 0, 0.5 },
			"alerts.attemptStuck.factor: 0.5 is out of range; use 1 to 1000\nalerts.attemptStuck.patience: 0s is not a positive duration; use one such as 10m"},
		"no group name": {func(c *Config) { c.Group.Name = "" },
			`group.name: "" is not a valid name; use one such as leader-election`},
		"an interval as long as a window": {func(c *Config) { c.Group.Interval = minutes(3) },
			"group.interval: 3m is longer than half of alerts.backendErrors.recent, which is 3m, so events could come and go between two evaluations; use at most 1m30s"},
		"the lock as severity label": {func(c *Config) { c.SeverityLabel = "lock_name" },
			"severityLabel: lock_name is a label that the alert already has; use another one"},
		"a static label that hides the scope": {func(c *Config) { c.Labels = map[string]string{"job": "b"} },
			"labels.job: job is a label that the alert already has; use another name"},
		"a static label that changes": {func(c *Config) { c.Labels = map[string]string{"n": "{{ $value }}"} },
			`labels.n: "{{ $value }}" is a template, which would change the identity of an alert; use an annotation instead`},
		"an annotation of the rules": {func(c *Config) { c.Annotations = map[string]string{"summary": "x"} },
			"annotations.summary: summary is written by the rules; use another name"},
		"an annotation that cannot be expanded": {func(c *Config) { c.Annotations = map[string]string{"x": "{{ .Nope"} },
			"annotations.x: \"{{ .Nope\" is not a valid Prometheus template (template: annotation:1: unclosed action); correct it"},
		"a runbook address that is none": {func(c *Config) { c.RunbookBaseURL = "runbooks" },
			`runbookBaseURL: "runbooks" is not a web address; start it with https:// or leave it empty`},
		"a uid too long": {func(c *Config) { c.DashboardUID = strings.Repeat("x", 41) },
			`dashboardUID: "` + strings.Repeat("x", 41) + `" is not a valid uid; use at most 40 letters, digits, - and _`},
		"a hold longer than half of the window": {func(c *Config) { c.Alerts.NoAcquisition.For = minutes(6) },
			"alerts.noAcquisition.for: 6m is longer than half of the window of 10m, so events would leave the window before the alert fires; use at most 5m"},
		"a hold longer than half of the window of errors": {func(c *Config) { c.Alerts.BackendErrors.Critical.For = minutes(6) },
			"alerts.backendErrors.critical.for: 6m is longer than half of the window of 3m, so events would leave the window before the alert fires; use at most 1m30s"},
		"an empty window": {func(c *Config) { c.Alerts.Flapping.Window, c.Alerts.Flapping.Interval = 0, 0 },
			"alerts.flapping.window: 0s holds fewer than two samples 1m apart, so the alert could never fire; use at least 2m\nalerts.flapping.for: 1m is longer than half of the window of 0s, so events would leave the window before the alert fires; use at most 0s"},
		"no severity": {func(c *Config) { c.Alerts.NoLeader.Warning.Severity = "" },
			`alerts.noLeader.warning.severity: "" is not a valid severity; use one such as warning or critical`},
		"one severity for both": {func(c *Config) { c.Alerts.BackendErrors.Warning.Severity = "critical" },
			"alerts.backendErrors.warning.severity: critical is the severity of critical too, so the two rules would have identical alerts; use another severity, or disable one rule"},
		"a negative hold": {func(c *Config) { c.Alerts.SplitBrain.For = minutes(-1) },
			"alerts.splitBrain.for: -1m is negative; use 0 to fire at once"},
		"errors that are over sooner than a sample": {func(c *Config) { c.Alerts.BackendErrors.Recent = 1 },
			"alerts.backendErrors.recent: 0s holds fewer than two samples 1m apart, so the alert could never fire; use at least 2m\nalerts.backendErrors.since: 1m is longer than half of recent, which is 0s, or negative; use at most 0s"},
		"a recent past longer than the window": {func(c *Config) { c.Alerts.BackendErrors.Recent = minutes(20) },
			"alerts.backendErrors.recent: 20m is longer than the window of 10m; make it shorter"},
		"a share that no attempts exceed": {func(c *Config) { c.Alerts.BackendErrors.Warning.Share = 1 },
			"alerts.backendErrors.warning.share: 1 is not a share that attempts can exceed; use 0 to 0.99"},
		"no events": {func(c *Config) { c.Alerts.NearLease.MinTimes = 0 },
			"alerts.nearLease.minTimes: 0 is too few; use at least 1"},
		"a share that no renewals exceed": {func(c *Config) { c.Alerts.RenewalFailures.Share = 1 },
			"alerts.renewalFailures.share: 1 is not a share that renewals can exceed; use 0 to 0.99"},
		"failures of renewals that are over sooner than a sample": {func(c *Config) { c.Alerts.RenewalFailures.Recent = model.Duration(45 * time.Second) },
			"alerts.renewalFailures.recent: 45s holds fewer than two samples 1m apart, so the alert could never fire; use at least 2m"},
		"a recent past of renewals longer than the window": {func(c *Config) { c.Alerts.RenewalFailures.Recent = minutes(20) },
			"alerts.renewalFailures.recent: 20m is longer than the window of 10m; make it shorter"},
		"no failures of renewals": {func(c *Config) { c.Alerts.RenewalFailures.MinFailures = 0 },
			"alerts.renewalFailures.minFailures: 0 is too few; use at least 1"},
		"no part of a lease": {func(c *Config) { c.Alerts.LowHeadroom.Share = 1 },
			"alerts.lowHeadroom.share: 1 is not a valid share of a lease; use 0.01 to 0.99"},
		"jobs overdue between two runs": {func(c *Config) { c.Alerts.JobOverdue.Intervals = 0.5 },
			"alerts.jobOverdue.intervals: 0.5 is out of range: below 1 each job would be overdue between two runs; use 1 to 100"},
		"a grace shorter than a sample": {func(c *Config) { c.Alerts.JobOverdue.Grace = model.Duration(30 * time.Second) },
			"alerts.jobOverdue.grace: 30s is shorter than two samples 1m apart, and a run is not seen sooner; use at least 2m"},
		"a negative interval of jobs": {func(c *Config) { c.Alerts.JobOverdue.Interval = minutes(-1) },
			"alerts.jobOverdue.interval: -1m is negative; use 0s for that of the group"},
		"a lookback in which no job is overdue": {func(c *Config) { c.Alerts.JobOverdue.Lookback = minutes(2) },
			"alerts.jobOverdue.lookback: 2m is not longer than grace, which is 2m, so no job could be overdue; make it longer\nalerts.jobOverdue.interval: 5m is longer than half of the lookback of 2m; use at most 1m"},
		"a share that no runs exceed": {func(c *Config) { c.Alerts.TaskFailing.Share = -0.1 },
			"alerts.taskFailing.share: -0.1 is not a share that runs can exceed; use 0 to 0.99"},
		"no failures of runs": {func(c *Config) { c.Alerts.TaskFailing.MinFailures = -1 },
			"alerts.taskFailing.minFailures: -1 is too few; use at least 1"},
		"a window without a regression": {func(c *Config) { c.Alerts.TokenRegressed.Window = 0 },
			"alerts.tokenRegressed.window: 0s holds fewer than two samples 1m apart, so the alert could never fire; use at least 2m"},
		"metrics forgotten before they are missed": {func(c *Config) { c.Alerts.MetricsAbsent.Warning.Lookback = minutes(10) },
			"alerts.metricsAbsent.warning.lookback: 10m is not longer than for, which is 10m, and two samples, so the lookback would end before the alert fires; use at least 12m"},
		"locks forgotten before they are missed": {func(c *Config) { c.Alerts.LockVanished.For = minutes(60) },
			"alerts.lockVanished.lookback: 1h is not longer than for, which is 1h, and two samples, so the lookback would end before the alert fires; use at least 1h2m"},
		"targets forgotten before they are missed": {func(c *Config) { c.Alerts.ScrapeFailing.Lookback = 0 },
			"alerts.scrapeFailing.lookback: 0s is not longer than for, which is 5m, and two samples, so the lookback would end before the alert fires; use at least 7m"},
		"a hold longer than half of the window of overflows": {func(c *Config) { c.Alerts.LabelOverflow.For = minutes(31) },
			"alerts.labelOverflow.for: 31m is longer than half of the window of 1h, so events would leave the window before the alert fires; use at most 30m"},
		"a tolerance of the whole window": {func(c *Config) { c.Alerts.WorkAfterLoss.Tolerance = minutes(30) },
			"alerts.workAfterLoss.tolerance: 30m is not between 0 and the window of 30m, which one replica cannot exceed; make it shorter"},
		"a negative hold of a mismatch": {func(c *Config) { c.Alerts.RedactionKeyMismatch.For = minutes(-1) },
			"alerts.redactionKeyMismatch.for: -1m is negative; use 0 to fire at once"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			config := Default()
			c.change(&config)
			err := config.Validate()
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if _, err := Rules(config); err == nil {
				t.Error("Rules accepts it")
			}
		})
	}
}

func TestConfigurationsThatAreUnusualAreAccepted(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"the default":                        func(*Config) {},
		"a scope of nothing but the lock":    func(c *Config) { c.ScopeLabels, c.Selector = []string{"lock_name"}, `job="a"` },
		"a selector in braces":               func(c *Config) { c.Selector = `{job="a",lock_name!=""}` },
		"an alert switched off with no knob": func(c *Config) { c.Alerts.NearLease = NearLease{} },
		"every alert switched off":           func(c *Config) { c.Alerts = Alerts{} },
		"links left out":                     func(c *Config) { c.DashboardUID, c.LockDashboardUID, c.RunbookBaseURL = "", "", "" },
		"a demo in seconds":                  shorten,
	} {
		t.Run(name, func(t *testing.T) {
			c := Default()
			change(&c)
			if _, err := YAML(c); err != nil {
				t.Error(err)
			}
		})
	}
}

// shorten makes a configuration for a scrape and an evaluation every second.
func shorten(c *Config) {
	s := func(n int) model.Duration { return model.Duration(time.Duration(n) * time.Second) }
	c.ScrapeInterval, c.Group.Interval = s(1), s(1)
	a := &c.Alerts
	a.NoAcquisition.Window, a.NoAcquisition.For, a.NoAcquisition.KeepFiringFor = s(10), s(3), 0
	a.NoLeader.Critical.For, a.NoLeader.Warning.For, a.NoLeader.Lookback, a.NoLeader.DownFor = s(3), s(5), s(30), s(10)
	a.NoLeader.RefusedFor, a.NoLeader.Interval = s(20), 0
	a.SplitBrain.Window, a.SplitBrain.For, a.SplitBrain.KeepFiringFor = s(2), s(2), s(5)
	a.Overlap.Window, a.Overlap.KeepFiringFor, a.Overlap.Interval = s(10), 0, 0
	a.Flapping.Window, a.Flapping.For, a.Flapping.KeepFiringFor, a.Flapping.Interval = s(30), s(1), s(5), 0
	a.BackendErrors.Window, a.BackendErrors.Recent, a.BackendErrors.Since, a.BackendErrors.Vacant = s(10), s(8), s(2), s(2)
	a.BackendErrors.Critical.For, a.BackendErrors.Warning.For = s(4), s(4)
	a.NearLease.Window, a.NearLease.KeepFiringFor, a.NearLease.Interval = s(20), 0, 0
	a.LeaseExceeded.Window, a.LeaseExceeded.KeepFiringFor = s(20), 0
	a.WorkAfterLoss.Window, a.WorkAfterLoss.KeepFiringFor, a.WorkAfterLoss.Tolerance = s(30), 0, s(1)
	a.RenewalFailures.Window, a.RenewalFailures.Recent, a.RenewalFailures.For, a.RenewalFailures.KeepFiringFor = s(10), s(3), s(4), 0
	a.RenewalFailures.Interval = 0
	a.LowHeadroom.For, a.LowHeadroom.KeepFiringFor = s(2), 0
	a.JobOverdue.Grace, a.JobOverdue.Lookback, a.JobOverdue.Interval = s(2), s(120), 0
	a.TaskFailing.Window, a.TaskFailing.KeepFiringFor, a.TaskFailing.Interval = s(30), 0, 0
	a.TokenRegressed.Window, a.TokenRegressed.KeepFiringFor = s(30), 0
	a.StaleWrite.Window, a.StaleWrite.KeepFiringFor = s(30), 0
	a.MetricsAbsent.Warning.For, a.MetricsAbsent.Warning.Lookback = s(10), s(60)
	a.MetricsAbsent.Critical.For, a.MetricsAbsent.Critical.Lookback = s(10), s(60)
	a.NoStandby.For, a.NoStandby.Lookback, a.NoStandby.Interval = s(10), s(60), 0
	a.AttemptStuck.Patience, a.AttemptStuck.Lookback, a.AttemptStuck.Interval = s(10), s(60), 0
	a.Flapping.Slow = SlowFlapping{}
	a.LockVanished.For, a.LockVanished.Lookback, a.LockVanished.Interval = s(10), s(60), 0
	a.ScrapeFailing.For, a.ScrapeFailing.KeepFiringFor, a.ScrapeFailing.Lookback = s(5), 0, s(60)
	a.RedactionKeyMismatch.For, a.RedactionKeyMismatch.KeepFiringFor = s(20), 0
	a.LabelOverflow.Window, a.LabelOverflow.For = s(60), s(5)
}

func TestAConfigurationFileChangesOnlyWhatItNames(t *testing.T) {
	got := Default()
	file := `
holderLabel: pod
scopeLabels: [namespace, job, lock_name]
labels: {team: platform}
alerts:
  noLeader:
    critical:
      for: 90s
  splitBrain:
    severity: page
  backendErrors:
    warning: {share: 0.2, enabled: false}
  workAfterLoss:
    tolerance: 1m30s
`
	if err := yaml.UnmarshalWithOptions([]byte(file), &got, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.HolderLabel, want.ScopeLabels, want.Labels = "pod", []string{"namespace", "job", "lock_name"}, map[string]string{"team": "platform"}
	want.Alerts.NoLeader.Critical.For = model.Duration(90 * time.Second)
	want.Alerts.SplitBrain.Severity = "page"
	want.Alerts.BackendErrors.Warning.Share, want.Alerts.BackendErrors.Warning.Enabled = 0.2, false
	want.Alerts.WorkAfterLoss.Tolerance = model.Duration(90 * time.Second)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

func TestTheDefaultConfigurationSurvivesYAML(t *testing.T) {
	text, err := yaml.Marshal(Default())
	if err != nil {
		t.Fatal(err)
	}
	var got Config
	if err := yaml.UnmarshalWithOptions(text, &got, yaml.Strict()); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(Default(), got, cmp.Transformer("empty", func(m map[string]string) int { return len(m) })); diff != "" {
		t.Errorf("want -, got +\n%s\n%s", diff, text)
	}
}

func TestAConfigurationFileWithAnUnknownKeyIsRefused(t *testing.T) {
	c := Default()
	err := yaml.UnmarshalWithOptions([]byte("alerts: {splitBrain: {fro: 1m}}"), &c, yaml.Strict())
	if err == nil || !strings.Contains(err.Error(), `unknown field "fro"`) {
		t.Errorf("got %v", err)
	}
}
