package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/dashboards"
	"github.com/leaderscope/leaderscope/internal/output"
)

// format is a file format of dashboards or rules. Its files are in a folder with
// its name.
type format struct {
	name  string
	about string
	files func(config) ([]output.File, error)
	// onRequest: the format is written only if --format names it.
	onRequest bool
	// ours: the format supports only the series of this project.
	ours bool
}

// formats are all that can be written, in the order of the help text.
var formats = []format{
	{name: "grafana", about: "dashboards as JSON, with the provisioning file that makes Grafana load them", files: grafana},
	{name: "prometheus", about: "alerting rules for rule_files of Prometheus", files: prometheus},
	{name: "prometheusrule", about: "the rules as a PrometheusRule object of the Prometheus Operator", files: prometheusRule},
	{name: "configmap", about: "the dashboards in ConfigMaps for Grafana's sidecar", files: configMap},
	{name: "grafana-operator", about: "the dashboards as objects of the Grafana Operator", files: grafanaOperator},
	{name: "grafana-alerting", about: "the rules as provisioning file for Grafana-managed alerting", files: grafanaAlerting},
	{name: "mimir", about: "the rules as a namespace of the ruler of Mimir or Cortex", files: mimir},
	{name: "alertmanager", about: "inhibition rules and an example route for Alertmanager", files: alertmanager},
	{name: "promtool", about: "unit tests of the rules, for promtool test rules", files: promtool, onRequest: true},
	{name: "vmalert-tool", about: "the same for vmalert-tool unittest of VictoriaMetrics", files: vmalertTool, onRequest: true, ours: true},
	{name: "mixin", about: "rules and dashboards as a jsonnet mixin with configurable names, labels and thresholds", files: mixin, onRequest: true},
	{name: "manifest", about: "the dashboards as resources of Grafana 12 and later (dashboard.grafana.app)", files: manifests, onRequest: true},
	{name: "manifest-v2", about: "the same in the schema of Grafana 13, which earlier versions cannot load", files: manifestsV2, onRequest: true},
}

const rulesFile = "prometheus/leaderscope-rules.yaml"

// grafana's folder can be mounted as Grafana's provisioning/dashboards.
func grafana(c config) ([]output.File, error) {
	boards, err := dashboards.All(c.boards())
	if err != nil {
		return nil, err
	}
	provisioning, err := dashboards.Provisioning(c.boards())
	if err != nil {
		return nil, err
	}
	return append([]output.File{{Path: "grafana/leaderscope.yaml", Data: provisioning}}, named("grafana/leaderscope/", boards, ".json")...), nil
}

// named are files of the dashboards' names.
func named(prefix string, boards []dashboards.Named, ending string) []output.File {
	files := make([]output.File, len(boards))
	for i, b := range boards {
		files[i] = output.File{Path: prefix + b.Name + ending, Data: b.Data}
	}
	return files
}

func prometheus(c config) ([]output.File, error) {
	rules, err := alerts.YAML(c.rules())
	if err != nil {
		return nil, err
	}
	return []output.File{{Path: rulesFile, Data: rules}}, nil
}

func prometheusRule(c config) ([]output.File, error) {
	object := c.Kubernetes.object(c.Kubernetes.PrometheusRule.Name, c.Kubernetes.PrometheusRule.Labels)
	rules, err := alerts.PrometheusRule(c.rules(), object)
	if err != nil {
		return nil, err
	}
	return c.Kubernetes.chart([]output.File{{Path: "prometheusrule/leaderscope-rules.yaml", Data: rules}}), nil
}

func configMap(c config) ([]output.File, error) {
	maps, err := dashboards.ConfigMaps(c.boards(), c.Kubernetes.object(c.Kubernetes.ConfigMap.Name, nil), c.Kubernetes.ConfigMap.Sidecar)
	if err != nil {
		return nil, err
	}
	return c.Kubernetes.chart(named("configmap/leaderscope-", maps, ".yaml")), nil
}

func grafanaOperator(c config) ([]output.File, error) {
	objects, err := dashboards.GrafanaDashboards(c.boards(), c.Kubernetes.object(c.Kubernetes.GrafanaOperator.Name, nil), c.Kubernetes.GrafanaOperator.Operator)
	if err != nil {
		return nil, err
	}
	return c.Kubernetes.chart(named("grafana-operator/leaderscope-", objects, ".yaml")), nil
}

func grafanaAlerting(c config) ([]output.File, error) {
	rules, err := alerts.GrafanaAlerting(c.rules(), c.GrafanaAlerting)
	if err != nil {
		return nil, err
	}
	return []output.File{{Path: "grafana-alerting/leaderscope-rules.yaml", Data: rules}}, nil
}

func mimir(c config) ([]output.File, error) {
	rules, err := alerts.Mimir(c.rules(), c.Mimir.Namespace)
	if err != nil {
		return nil, err
	}
	return []output.File{{Path: "mimir/leaderscope-rules.yaml", Data: rules}}, nil
}

func alertmanager(c config) ([]output.File, error) {
	snippet, err := alerts.Alertmanager(c.rules(), c.Alertmanager)
	if err != nil {
		return nil, err
	}
	return []output.File{{Path: "alertmanager/leaderscope-alertmanager.yaml", Data: snippet}}, nil
}

func manifests(c config) ([]output.File, error) {
	resources, err := dashboards.Manifests(c.boards())
	if err != nil {
		return nil, err
	}
	return named("manifest/leaderscope-", resources, ".json"), nil
}

func manifestsV2(c config) ([]output.File, error) {
	resources, err := dashboards.ManifestsV2(c.boards())
	if err != nil {
		return nil, err
	}
	return named("manifest-v2/leaderscope-", resources, ".json"), nil
}

// promtool's tests are of the rules that the format prometheus writes.
func promtool(c config) ([]output.File, error) {
	tests, err := alerts.PromtoolTests(c.rules(), "../"+rulesFile)
	if err != nil {
		return nil, err
	}
	return []output.File{{Path: "promtool/leaderscope-tests.yaml", Data: tests}}, nil
}

// vmalertTool's tests are of the same rules.
func vmalertTool(c config) ([]output.File, error) {
	tests, err := alerts.VMAlertTests(c.rules(), "../"+rulesFile)
	if err != nil {
		return nil, err
	}
	return []output.File{{Path: "vmalert-tool/leaderscope-tests.yaml", Data: tests}}, nil
}

// make returns the files, unless the format does not support the source.
func (f format) make(c config) ([]output.File, error) {
	if err := f.of(c.Source); err != nil {
		return nil, err
	}
	return f.files(c)
}

// of refuses a source that the format does not support.
func (f format) of(s alerts.Source) error {
	if !s.Foreign() || !f.ours {
		return nil
	}
	var able []string
	for _, other := range formats {
		if !other.ours {
			able = append(able, other.name)
		}
	}
	return &alerts.KeyError{Key: "source", Problem: fmt.Sprintf("format %s does not support source %s; pass other formats with --format: %s", f.name, s, strings.Join(able, ", "))}
}

// usual returns the formats that are written without --format: all that are not
// on request and support the source.
func usual(s alerts.Source) []format {
	return slices.DeleteFunc(slices.Clone(formats), func(f format) bool { return f.onRequest || f.of(s) != nil })
}

// pick returns the named formats, in the order of the registry and each once; nil
// for no names.
func pick(names []string) ([]format, error) {
	names = slices.Clone(names)
	if len(names) == 0 {
		return nil, nil
	}
	known := make([]string, len(formats))
	for i, f := range formats {
		known[i] = f.name
	}
	for i, n := range names {
		n = strings.TrimSpace(n)
		names[i] = n
		if !slices.Contains(known, n) {
			return nil, fmt.Errorf("unknown format %q; valid formats: %s", n, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(formats), func(f format) bool { return !slices.Contains(names, f.name) }), nil
}

func describeFormats() string {
	var b strings.Builder
	for _, f := range formats {
		about := f.about
		if f.onRequest {
			about += "; on request only"
		}
		fmt.Fprintf(&b, "  %-17s%s\n", f.name, about)
	}
	return b.String()
}
