package dashboards

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/resource"
	"go.yaml.in/yaml/v3"

	"github.com/leaderscope/leaderscope/internal/finish"
	"github.com/leaderscope/leaderscope/internal/kube"
)

// Object is the metadata of a Kubernetes object.
type Object = kube.Object

// Named is something made of one dashboard.
type Named struct {
	// Name is that of the dashboard's file, without its ending: overview, lock,
	// backends, client-go or leases.
	Name string
	Data []byte
}

// All returns the dashboards as JSON, the overview first. A source of another project
// has one dashboard.
func All(cfg Config) ([]Named, error) {
	switch cfg.Source {
	case FromClientGo:
		return only("client-go", ClientGo, cfg)
	case FromKubeStateMetrics:
		return only("leases", Leases, cfg)
	}
	overview, err := Overview(cfg)
	if err != nil {
		return nil, err
	}
	lock, err := Lock(cfg)
	if err != nil {
		return nil, err
	}
	backends, err := Backends(cfg)
	if err != nil {
		return nil, err
	}
	return []Named{{"overview", overview}, {"lock", lock}, {"backends", backends}}, nil
}

func only(name string, build func(Config) ([]byte, error), cfg Config) ([]Named, error) {
	board, err := build(cfg)
	if err != nil {
		return nil, err
	}
	return []Named{{name, board}}, nil
}

// each makes something of every dashboard.
func each(cfg Config, form func(Named) ([]byte, error)) ([]Named, error) {
	boards, err := All(cfg)
	if err != nil {
		return nil, err
	}
	for i, b := range boards {
		if boards[i].Data, err = form(b); err != nil {
			return nil, fmt.Errorf("dashboard %s: %w", b.Name, err)
		}
	}
	return boards, nil
}

// Sidecar has the settings by which Grafana's sidecar finds a ConfigMap: those of
// sidecar.dashboards in Grafana's Helm chart.
type Sidecar struct {
	// Label and LabelValue mark the ConfigMaps to load.
	Label      string `yaml:"label"`
	LabelValue string `yaml:"labelValue"`
	// FolderAnnotation names the folder; empty for none. The sidecar uses it only with
	// foldersFromFilesStructure.
	FolderAnnotation string `yaml:"folderAnnotation"`
}

// DefaultSidecar returns the defaults of the chart, and a folder annotation, for
// which the chart has no default.
func DefaultSidecar() Sidecar {
	return Sidecar{Label: "grafana_dashboard", LabelValue: "1", FolderAnnotation: "grafana_folder"}
}

// ConfigMaps returns the dashboards in ConfigMaps for Grafana's sidecar, one each,
// named after the object and the dashboard. The error is that of
// [Config.Validate] or a [*kube.KeyError].
func ConfigMaps(cfg Config, o Object, s Sidecar) ([]Named, error) {
	annotations := map[string]string{}
	if s.FolderAnnotation != "" && cfg.Folder != "" {
		annotations[s.FolderAnnotation] = cfg.Folder
	}
	return each(cfg, func(d Named) ([]byte, error) {
		meta := o.With(o.Name+"-"+d.Name, map[string]string{s.Label: s.LabelValue}, annotations)
		return object("configmap", manifest{
			APIVersion: "v1", Kind: "ConfigMap", Metadata: meta,
			Data: map[string]string{meta.Name + ".json": string(d.Data)},
		})
	})
}

// Operator selects the instances of the Grafana Operator that load the dashboards.
type Operator struct {
	// InstanceSelector are labels of the Grafana objects.
	InstanceSelector map[string]string `yaml:"instanceSelector"`
	// AllowCrossNamespaceImport allows instances in other namespaces to load them.
	AllowCrossNamespaceImport bool `yaml:"allowCrossNamespaceImport"`
}

// DefaultOperator selects by the label of the operator's own examples.
func DefaultOperator() Operator {
	return Operator{InstanceSelector: map[string]string{"dashboards": "grafana"}}
}

// GrafanaDashboards returns the dashboards as objects of the Grafana Operator, one
// each. The error is that of [Config.Validate] or a [*kube.KeyError].
func GrafanaDashboards(cfg Config, o Object, op Operator) ([]Named, error) {
	return each(cfg, func(d Named) ([]byte, error) {
		return object("grafana-operator", manifest{
			APIVersion: "grafana.integreatly.org/v1beta1", Kind: "GrafanaDashboard",
			Metadata: o.With(o.Name+"-"+d.Name, nil, nil),
			Spec: grafanaDashboard{
				Selector: selector{op.InstanceSelector}, AcrossNamespaces: op.AllowCrossNamespaceImport,
				Folder: cfg.Folder, JSON: string(d.Data),
			},
		})
	})
}

// manifest is a Kubernetes object, in the order in which people read it.
type manifest struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Metadata   Object `yaml:"metadata"`
	Spec       any    `yaml:"spec,omitempty"`
	Data       any    `yaml:"data,omitempty"`
}

// grafanaDashboard is the spec of the Grafana Operator, version 5.
type grafanaDashboard struct {
	Selector         selector `yaml:"instanceSelector"`
	AcrossNamespaces bool     `yaml:"allowCrossNamespaceImport,omitempty"`
	Folder           string   `yaml:"folder,omitempty"`
	JSON             string   `yaml:"json"`
}

type selector struct {
	MatchLabels map[string]string `yaml:"matchLabels"`
}

func object(format string, m manifest) ([]byte, error) {
	if err := m.Metadata.Validate(); err != nil {
		return nil, err
	}
	return asYAML(format, m)
}

func asYAML(format string, v any) ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Generated by gen-dashboards --format %[1]s: do not edit. To make it again: gen-dashboards --format %[1]s --out DIR [--config FILE]\n", format)
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	err := e.Encode(v)
	return out.Bytes(), err
}

// Manifests returns the dashboards as resources of Grafana itself, for its API since
// version 12 and for gcx and grafanactl. The spec is the classic schema. The
// error is that of [Config.Validate].
func Manifests(cfg Config) ([]Named, error) {
	return each(cfg, func(d Named) ([]byte, error) {
		var spec map[string]any
		if err := json.Unmarshal(d.Data, &spec); err != nil {
			return nil, err
		}
		uid := spec["uid"].(string)
		delete(spec, "uid") // it is the name of the resource
		return finish.Canonical(resource.Manifest{
			ApiVersion: "dashboard.grafana.app/v1beta1",
			Kind:       resource.DashboardKind,
			Metadata:   resource.Metadata{Name: uid},
			Spec:       spec,
		})
	})
}
