package main

import (
	"github.com/leaderscope/leaderscope/dashboards"
	"github.com/leaderscope/leaderscope/internal/kube"
	"github.com/leaderscope/leaderscope/internal/output"
)

// kubernetes is what the formats that are Kubernetes objects share, and what
// each of them needs besides.
type kubernetes struct {
	Namespace   string            `yaml:"namespace"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
	Helm        bool              `yaml:"helm"`

	PrometheusRule  prometheusRuleSection  `yaml:"prometheusRule"`
	ConfigMap       configMapSection       `yaml:"configMap"`
	GrafanaOperator grafanaOperatorSection `yaml:"grafanaOperator"`
}

type prometheusRuleSection struct {
	Name   string            `yaml:"name"`
	Labels map[string]string `yaml:"labels"`
}

type configMapSection struct {
	Name               string `yaml:"name"`
	dashboards.Sidecar `yaml:",inline"`
}

type grafanaOperatorSection struct {
	Name                string `yaml:"name"`
	dashboards.Operator `yaml:",inline"`
}

func defaultKubernetes() kubernetes {
	return kubernetes{
		PrometheusRule:  prometheusRuleSection{Name: "leaderscope"},
		ConfigMap:       configMapSection{Name: "leaderscope", Sidecar: dashboards.DefaultSidecar()},
		GrafanaOperator: grafanaOperatorSection{Name: "leaderscope", Operator: dashboards.DefaultOperator()},
	}
}

// object is the metadata of one object, with labels of its own.
func (k kubernetes) object(name string, labels map[string]string) kube.Object {
	return kube.Object{Namespace: k.Namespace, Labels: k.Labels, Annotations: k.Annotations}.With(name, labels, nil)
}

// chart makes files that are templates of a Helm chart, where they are.
func (k kubernetes) chart(files []output.File) []output.File {
	if k.Helm {
		for i := range files {
			files[i].Data = kube.Helm(files[i].Data)
		}
	}
	return files
}

// validate reports the keys that the API server would refuse. The name of an object
// that holds a dashboard ends in board.
func (k kubernetes) validate(board string) (bad []*keyError) {
	sidecar := k.ConfigMap.Sidecar
	labelled := map[string]string{"x": sidecar.LabelValue}
	folder := map[string]string{}
	if sidecar.FolderAnnotation != "" {
		folder[sidecar.FolderAnnotation] = ""
	}
	for _, c := range []struct {
		object kube.Object
		// keys are where the file keeps what the object is made of.
		keys map[string]string
	}{
		{kube.Object{Name: "x", Namespace: k.Namespace, Labels: k.Labels, Annotations: k.Annotations}, nil},
		{kube.Object{Name: k.PrometheusRule.Name, Labels: k.PrometheusRule.Labels},
			map[string]string{"name": "prometheusRule.name", "labels": "prometheusRule.labels"}},
		{kube.Object{Name: k.ConfigMap.Name + board, Labels: map[string]string{sidecar.Label: ""}, Annotations: folder},
			map[string]string{"name": "configMap.name", "labels": "configMap.label", "annotations": "configMap.folderAnnotation"}},
		{kube.Object{Name: "x", Labels: labelled}, map[string]string{"labels": "configMap.labelValue"}},
		{kube.Object{Name: k.GrafanaOperator.Name + board, Labels: k.GrafanaOperator.InstanceSelector},
			map[string]string{"name": "grafanaOperator.name", "labels": "grafanaOperator.instanceSelector"}},
	} {
		for _, err := range joined(c.object.Validate()) {
			e := err.(*kube.KeyError)
			key := e.Key
			if moved, ok := c.keys[key]; ok {
				key = moved
			}
			bad = append(bad, &keyError{key: "kubernetes." + key, problem: e.Problem})
		}
	}
	return bad
}
