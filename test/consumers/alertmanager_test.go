package consumers

import (
	"testing"

	"github.com/prometheus/alertmanager/config/common"
	"github.com/prometheus/alertmanager/pkg/labels"
	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v2"

	"github.com/leaderscope/leaderscope/alerts"
)

// file is Alertmanager's configuration as far as the example goes, with its
// own matchers and inhibition rules. The package that holds the rest comes
// with Alertmanager's cluster and with every notifier.
// Source: config/config.go of Alertmanager.
type file struct {
	InhibitRules []common.InhibitRule `yaml:"inhibit_rules"`
	Route        *route               `yaml:"route"`
	Receivers    []struct {
		Name string `yaml:"name"`
	} `yaml:"receivers"`
}

type route struct {
	Receiver       string          `yaml:"receiver"`
	GroupBy        []string        `yaml:"group_by"`
	Matchers       common.Matchers `yaml:"matchers"`
	GroupWait      model.Duration  `yaml:"group_wait"`
	GroupInterval  model.Duration  `yaml:"group_interval"`
	RepeatInterval model.Duration  `yaml:"repeat_interval"`
	Routes         []*route        `yaml:"routes"`
}

func loaded(t *testing.T, r alerts.Routing) file {
	t.Helper()
	data, err := alerts.Alertmanager(alerts.Default(), r)
	if err != nil {
		t.Fatal(err)
	}
	var cfg file
	if err := yaml.UnmarshalStrict(data, &cfg); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	return cfg
}

func TestAlertmanagerReadsTheExample(t *testing.T) {
	for _, r := range []alerts.Routing{
		alerts.DefaultRouting(), {Receiver: "all", PageReceiver: "all", PageSeverity: "critical"},
	} {
		cfg := loaded(t, r)
		known := map[string]bool{}
		for _, receiver := range cfg.Receivers {
			if known[receiver.Name] {
				t.Errorf("receiver %s is there twice", receiver.Name)
			}
			known[receiver.Name] = true
		}
		var walk func(*route)
		walk = func(r *route) {
			if !known[r.Receiver] {
				t.Errorf("there is no receiver %s", r.Receiver)
			}
			for _, child := range r.Routes {
				walk(child)
			}
		}
		walk(cfg.Route)
		if len(cfg.Route.Matchers) > 0 || len(cfg.InhibitRules) == 0 {
			t.Errorf("%+v", cfg)
		}
	}
}

// receiver walks down the route as Alertmanager does: the first child that
// matches takes the alert.
func receiver(r *route, alert model.LabelSet) string {
	for _, child := range r.Routes {
		if matches(child.Matchers, alert) {
			return receiver(child, alert)
		}
	}
	return r.Receiver
}

func TestAlertmanagerRoutesPagesToThePager(t *testing.T) {
	route := loaded(t, alerts.DefaultRouting()).Route
	cases := map[string]struct {
		alert model.LabelSet
		want  string
	}{
		"a page":                   {model.LabelSet{"alertname": "LeaderElectionSplitBrain", "severity": "critical"}, "leader-election-page"},
		"a warning":                {model.LabelSet{"alertname": "LeaderElectionNearLease", "severity": "warning"}, "leader-election"},
		"an alert of another team": {model.LabelSet{"alertname": "KubePodCrashLooping", "severity": "critical"}, "leader-election"},
	}
	for name, c := range cases {
		if got := receiver(route, c.alert); got != c.want {
			t.Errorf("%s goes to %s, want %s", name, got, c.want)
		}
	}
}

// muted asks what Alertmanager asks: is there a rule whose source and target
// match, with equal labels.
func muted(rules []common.InhibitRule, source, target model.LabelSet) bool {
	for _, r := range rules {
		if !matches(r.SourceMatchers, source) || !matches(r.TargetMatchers, target) {
			continue
		}
		equal := true
		for _, l := range r.Equal {
			equal = equal && source[model.LabelName(l)] == target[model.LabelName(l)]
		}
		if equal {
			return true
		}
	}
	return false
}

func matches(ms common.Matchers, set model.LabelSet) bool {
	return labels.Matchers(ms).Matches(set)
}

func TestAlertmanagerMutesWhatAPageExplains(t *testing.T) {
	alert := func(name, severity, lock string) model.LabelSet {
		return model.LabelSet{"alertname": model.LabelValue(alerts.Prefix + name), "severity": model.LabelValue(severity), "job": "a", "lock_name": model.LabelValue(lock)}
	}
	ofJob := func(name, severity string) model.LabelSet {
		set := alert(name, severity, "")
		delete(set, "lock_name")
		return set
	}
	cases := map[string]struct {
		source, target model.LabelSet
		want           bool
	}{
		"a warning beside its page":         {alert("BackendErrors", "critical", "x"), alert("BackendErrors", "warning", "x"), true},
		"no replica leads, for the backend": {alert("BackendErrors", "critical", "x"), alert("NoLeader", "critical", "x"), true},
		"near a lease that was exceeded":    {alert("LeaseExceeded", "critical", "x"), alert("NearLease", "warning", "x"), true},
		"no acquisition, for no leader":     {alert("NoLeader", "critical", "x"), alert("NoAcquisition", "warning", "x"), true},
		"renewals, for the backend":         {alert("BackendErrors", "critical", "x"), alert("RenewalFailures", "warning", "x"), true},
		"renewals beside a few errors":      {alert("BackendErrors", "warning", "x"), alert("RenewalFailures", "warning", "x"), false},
		"a job overdue, for no leader":      {alert("NoLeader", "critical", "x"), alert("JobOverdue", "warning", "x"), true},
		"a job overdue, for no wins":        {alert("NoAcquisition", "warning", "x"), alert("JobOverdue", "warning", "x"), true},
		"headroom of an ended lease":        {alert("LeaseExceeded", "critical", "x"), alert("LowHeadroom", "warning", "x"), true},
		"headroom for failed renewals":      {alert("RenewalFailures", "warning", "x"), alert("LowHeadroom", "warning", "x"), false},
		"a target down, for no metrics":     {ofJob("MetricsAbsent", "warning"), ofJob("ScrapeFailing", "warning"), true},
		"a lock gone with its target":       {ofJob("ScrapeFailing", "warning"), alert("LockVanished", "warning", "x"), true},
		"a leader that cannot be scraped":   {ofJob("ScrapeFailing", "warning"), alert("NoLeader", "warning", "x"), true},
		"no leader at all, for a target":    {ofJob("ScrapeFailing", "warning"), alert("NoLeader", "critical", "x"), false},
		"a standby that is not scraped":     {ofJob("ScrapeFailing", "warning"), alert("NoStandby", "warning", "x"), true},
		"no standby, for no leader":         {alert("NoLeader", "critical", "x"), alert("NoStandby", "warning", "x"), true},
		"a job overdue with its metrics":    {ofJob("MetricsAbsent", "warning"), alert("JobOverdue", "warning", "x"), true},
		"a stuck attempt in an outage":      {alert("BackendErrors", "critical", "x"), alert("AttemptStuck", "warning", "x"), true},
		"an overlap of two leaders":         {alert("SplitBrain", "critical", "x"), alert("Overlap", "warning", "x"), true},
		"two leaders, for an overlap":       {alert("Overlap", "warning", "x"), alert("SplitBrain", "critical", "x"), false},
		"a token that went back":            {alert("SplitBrain", "critical", "x"), alert("TokenRegressed", "critical", "x"), false},
		"a few backend errors":              {alert("BackendErrors", "warning", "x"), alert("NoLeader", "critical", "x"), false},
		"another lock":                      {alert("BackendErrors", "critical", "x"), alert("NoLeader", "critical", "y"), false},
		"two leaders, whatever the cause":   {alert("BackendErrors", "critical", "x"), alert("SplitBrain", "critical", "x"), false},
		"the cause itself":                  {alert("NoLeader", "critical", "x"), alert("BackendErrors", "critical", "x"), false},
		"work after loss":                   {alert("LeaseExceeded", "critical", "x"), alert("WorkAfterLoss", "critical", "x"), false},
		"an alert with another name":        {alert("BackendErrors", "critical", "x"), model.LabelSet{"alertname": "Other", "severity": "warning", "job": "a", "lock_name": "x"}, false},
	}
	rules := loaded(t, alerts.DefaultRouting()).InhibitRules
	for name, c := range cases {
		if got := muted(rules, c.source, c.target); got != c.want {
			t.Errorf("%s: muted %v, want %v", name, got, c.want)
		}
	}
}
