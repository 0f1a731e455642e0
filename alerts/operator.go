package alerts

import (
	"go.yaml.in/yaml/v3"

	"github.com/prometheus/prometheus/model/rulefmt"

	"github.com/leaderscope/leaderscope/internal/kube"
)

// Object is the metadata of a Kubernetes object.
type Object = kube.Object

// PrometheusRule returns the enabled rules as an object of the Prometheus
// Operator, which loads it if its ruleSelector matches the labels. The error is
// that of [Config.Validate], or an [*kube.KeyError].
func PrometheusRule(c Config, o Object) ([]byte, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	groups, err := groups(c)
	if err != nil {
		return nil, err
	}
	return encode("prometheusrule", struct {
		APIVersion string             `yaml:"apiVersion"`
		Kind       string             `yaml:"kind"`
		Metadata   Object             `yaml:"metadata"`
		Spec       rulefmt.RuleGroups `yaml:"spec"`
	}{"monitoring.coreos.com/v1", "PrometheusRule", o, groups})
}

// Mimir returns the enabled rules as a file of mimirtool and cortextool: the
// groups of one namespace of the ruler. The error is that of
// [Config.Validate].
func Mimir(c Config, namespace string) ([]byte, error) {
	groups, err := groups(c)
	if err != nil {
		return nil, err
	}
	return encode("mimir", struct {
		Namespace          string `yaml:"namespace"`
		rulefmt.RuleGroups `yaml:",inline"`
	}{namespace, groups})
}

// groups returns all groups of the file that [YAML] returns.
func groups(c Config) (rulefmt.RuleGroups, error) {
	var file rulefmt.RuleGroups
	data, err := YAML(c)
	if err != nil {
		return file, err
	}
	return file, yaml.Unmarshal(data, &file)
}
