package consumers

import (
	"bytes"
	"testing"
	"text/template"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/prometheus/model/rulefmt"
	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	strict "sigs.k8s.io/yaml"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/dashboards"
	"github.com/leaderscope/leaderscope/internal/kube"
)

var object = kube.Object{
	Name: "leaderscope", Namespace: "monitoring",
	Labels: map[string]string{"release": "kube-prometheus-stack"}, Annotations: map[string]string{"example.com/owner": "platform"},
}

func TestTheOperatorReadsTheRules(t *testing.T) {
	data, err := alerts.PrometheusRule(alerts.Default(), object)
	if err != nil {
		t.Fatal(err)
	}
	var got monitoring.PrometheusRule
	if err := strict.UnmarshalStrict(data, &got); err != nil {
		t.Fatal(err)
	}
	if got.APIVersion != monitoring.SchemeGroupVersion.String() || got.Kind != monitoring.PrometheusRuleKind {
		t.Errorf("it is a %s of %s", got.Kind, got.APIVersion)
	}
	if got.Name != object.Name || got.Namespace != object.Namespace || got.Labels["release"] != object.Labels["release"] {
		t.Errorf("metadata %+v", got.ObjectMeta)
	}
	rules, err := alerts.Rules(alerts.Default())
	if err != nil {
		t.Fatal(err)
	}
	var alerting []monitoring.Rule
	for _, g := range got.Spec.Groups {
		for _, r := range g.Rules {
			if r.Alert != "" {
				alerting = append(alerting, r)
			}
		}
	}
	if len(alerting) != len(rules) {
		t.Fatalf("%d alerting rules, want %d", len(alerting), len(rules))
	}
	for i, want := range rules {
		r := alerting[i]
		if r.Alert != want.Name || r.Expr.StrVal != want.Expr || r.Annotations["description"] != want.Annotations["description"] {
			t.Errorf("rule %d is %+v, want %+v", i, r, want)
		}
		if want.For > 0 && (r.For == nil || string(*r.For) != want.For.String()) || want.For == 0 && r.For != nil {
			t.Errorf("%s: for %v, want %s", want.Name, r.For, want.For)
		}
		if want.KeepFiringFor > 0 && (r.KeepFiringFor == nil || string(*r.KeepFiringFor) != want.KeepFiringFor.String()) {
			t.Errorf("%s: keep_firing_for %v, want %s", want.Name, r.KeepFiringFor, want.KeepFiringFor)
		}
	}
}

func TestGrafanasSidecarReadsTheDashboards(t *testing.T) {
	cfg := dashboards.Default()
	maps, err := dashboards.ConfigMaps(cfg, object, dashboards.DefaultSidecar())
	if err != nil {
		t.Fatal(err)
	}
	boards, err := dashboards.All(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range maps {
		var got corev1.ConfigMap
		if err := strict.UnmarshalStrict(m.Data, &got); err != nil {
			t.Fatal(err)
		}
		if got.Labels["grafana_dashboard"] != "1" || got.Annotations["grafana_folder"] != cfg.Folder || got.Name != "leaderscope-"+m.Name {
			t.Errorf("metadata %+v", got.ObjectMeta)
		}
		if text := got.Data["leaderscope-"+m.Name+".json"]; text != string(boards[i].Data) {
			t.Errorf("the dashboard %s is not the one that Grafana loads from files", m.Name)
		}
		// The API server stores at most 1 MiB, and kubectl apply keeps a
		// second copy in an annotation of at most 256 KiB.
		if len(m.Data) > 256<<10 {
			t.Errorf("%s has %d bytes", m.Name, len(m.Data))
		}
	}
}

// grafanaDashboard is what the Grafana Operator reads: its own types come with
// half of Kubernetes. Source: api/v1beta1/grafanadashboard_types.go, v5.
type grafanaDashboard struct {
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"`
	Metadata   kubeObject  `json:"metadata"`
	Spec       operatorDoc `json:"spec"`
}

type kubeObject struct {
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

type operatorDoc struct {
	InstanceSelector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"instanceSelector"`
	AllowCrossNamespaceImport bool   `json:"allowCrossNamespaceImport"`
	Folder                    string `json:"folder"`
	JSON                      string `json:"json"`
}

func TestTheGrafanaOperatorReadsTheDashboards(t *testing.T) {
	cfg := dashboards.Default()
	op := dashboards.DefaultOperator()
	op.AllowCrossNamespaceImport = true
	objects, err := dashboards.GrafanaDashboards(cfg, object, op)
	if err != nil {
		t.Fatal(err)
	}
	boards, err := dashboards.All(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range objects {
		var got grafanaDashboard
		if err := strict.UnmarshalStrict(o.Data, &got); err != nil {
			t.Fatal(err)
		}
		if got.Kind != "GrafanaDashboard" || got.APIVersion != "grafana.integreatly.org/v1beta1" || got.Spec.Folder != cfg.Folder ||
			got.Spec.InstanceSelector.MatchLabels["dashboards"] != "grafana" || !got.Spec.AllowCrossNamespaceImport {
			t.Errorf("%+v", got.Metadata)
		}
		if got.Spec.JSON != string(boards[i].Data) {
			t.Errorf("the dashboard %s is not the one that Grafana loads from files", o.Name)
		}
	}
}

// A chart is rendered before anything reads it.
func TestAChartRendersTheRulesAsTheyWere(t *testing.T) {
	data, err := alerts.PrometheusRule(alerts.Default(), object)
	if err != nil {
		t.Fatal(err)
	}
	chart, err := template.New("chart").Parse(string(kube.Helm(data)))
	if err != nil {
		t.Fatal(err)
	}
	var rendered bytes.Buffer
	if err := chart.Execute(&rendered, nil); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(rendered.Bytes(), data) {
		t.Error("the rendered chart differs")
	}
}

func TestMimirtoolReadsTheRules(t *testing.T) {
	data, err := alerts.Mimir(alerts.Default(), "team-a")
	if err != nil {
		t.Fatal(err)
	}
	// Source: pkg/mimirtool/rules/rwrulefmt of Mimir, but for remote writing.
	var file struct {
		Namespace string `yaml:"namespace"`
		Groups    []struct {
			rulefmt.RuleGroup `yaml:",inline"`
			RemoteWrite       []any `yaml:"remote_write,omitempty"`
		} `yaml:"groups"`
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if file.Namespace != "team-a" || len(file.Groups) == 0 || len(file.Groups[0].Rules) == 0 {
		t.Errorf("%+v", file)
	}
}
