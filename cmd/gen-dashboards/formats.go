package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/dashboards"
	"github.com/leaderscope/leaderscope/internal/output"
)

// format is one form in which dashboards or rules are loaded. Its files go
// into a folder of its name.
type format struct {
	name  string
	about string
	files func(config) ([]output.File, error)
}

// formats are all that can be written, in the order of the help text.
var formats = []format{
	{"grafana", "dashboard JSON and the YAML that makes Grafana load it from files", grafana},
	{"prometheus", "alerting rules for rule_files of Prometheus", prometheus},
	{"promtool", "unit tests of those rules, for promtool test rules", promtool},
}

const rulesFile = "prometheus/leaderscope-rules.yaml"

// planned formats are known by name but cannot be written yet.
var planned = []string{
	"prometheusrule", "configmap", "grafana-operator", "grafana-alerting", "mimir", "alertmanager",
}

// grafana's folder can be mounted as Grafana's provisioning/dashboards.
func grafana(c config) ([]output.File, error) {
	boards, err := dashboardFiles("grafana/leaderscope/", c.boards())
	if err != nil {
		return nil, err
	}
	provisioning, err := dashboards.Provisioning(c.boards())
	if err != nil {
		return nil, err
	}
	return append([]output.File{{Path: "grafana/leaderscope.yaml", Data: provisioning}}, boards...), nil
}

// dashboardFiles are the dashboards as Grafana itself writes them.
func dashboardFiles(folder string, c dashboards.Config) ([]output.File, error) {
	overview, err := dashboards.Overview(c)
	if err != nil {
		return nil, err
	}
	lock, err := dashboards.Lock(c)
	if err != nil {
		return nil, err
	}
	return []output.File{{Path: folder + "overview.json", Data: overview}, {Path: folder + "lock.json", Data: lock}}, nil
}

func prometheus(c config) ([]output.File, error) {
	rules, err := alerts.YAML(c.rules())
	if err != nil {
		return nil, err
	}
	return []output.File{{Path: rulesFile, Data: rules}}, nil
}

// promtool's tests are of the rules that the format prometheus writes.
func promtool(c config) ([]output.File, error) {
	tests, err := alerts.PromtoolTests(c.rules(), "../"+rulesFile)
	if err != nil {
		return nil, err
	}
	return []output.File{{Path: "promtool/leaderscope-tests.yaml", Data: tests}}, nil
}

// pick finds formats by name, all of them without a name, in the order of the
// registry and each once.
func pick(names []string) ([]format, error) {
	if len(names) == 0 {
		return formats, nil
	}
	known := make([]string, len(formats))
	for i, f := range formats {
		known[i] = f.name
	}
	for _, n := range names {
		switch {
		case slices.Contains(planned, n):
			return nil, fmt.Errorf("format %s cannot be written yet; there are %s", n, strings.Join(known, ", "))
		case !slices.Contains(known, n):
			return nil, fmt.Errorf("format %q is unknown; there are %s", n, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(formats), func(f format) bool { return !slices.Contains(names, f.name) }), nil
}

func describeFormats() string {
	var b strings.Builder
	for _, f := range formats {
		fmt.Fprintf(&b, "  %-12s %s\n", f.name, f.about)
	}
	return b.String()
}
