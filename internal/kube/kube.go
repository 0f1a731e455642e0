// Package kube holds what Kubernetes objects have in common: their metadata,
// and text that survives a Helm chart. It knows no kind of object; alerts and
// dashboards write theirs with it.
package kube

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// Object names an object and says what is attached to it.
type Object struct {
	Name string `yaml:"name"`
	// Namespace may be empty: that of the client that applies the object.
	Namespace   string            `yaml:"namespace,omitempty"`
	Labels      map[string]string `yaml:"labels,omitempty"`
	Annotations map[string]string `yaml:"annotations,omitempty"`
}

// With is the object under a name of its own, with more labels and
// annotations. What was there before stays.
func (o Object) With(name string, labels, annotations map[string]string) Object {
	return Object{Name: name, Namespace: o.Namespace, Labels: merged(labels, o.Labels), Annotations: merged(annotations, o.Annotations)}
}

func merged(from, over map[string]string) map[string]string {
	m := map[string]string{}
	maps.Copy(m, from)
	maps.Copy(m, over)
	return m
}

// The forms that the API server demands.
// Source: apimachinery, pkg/util/validation.
var (
	subdomain  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	dnsLabel   = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	labelName  = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
	labelValue = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`)
)

// A KeyError is a setting that the API server would refuse.
type KeyError struct {
	// Key is name, namespace, labels or annotations.
	Key string
	// Problem says what is wrong.
	Problem string
}

// Error names the key first.
func (e *KeyError) Error() string { return e.Key + ": " + e.Problem }

// Validate reports the first thing that the API server would refuse, as a
// [*KeyError].
func (o Object) Validate() error {
	switch {
	case len(o.Name) > 253 || !subdomain.MatchString(o.Name):
		return &KeyError{"name", fmt.Sprintf("%q is no name of an object; use small letters, digits and -", o.Name)}
	case o.Namespace != "" && (len(o.Namespace) > 63 || !dnsLabel.MatchString(o.Namespace)):
		return &KeyError{"namespace", fmt.Sprintf("%q is no namespace; use small letters, digits and -", o.Namespace)}
	}
	if err := ValidLabels(o.Labels); err != nil {
		return &KeyError{"labels", err.Error()}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Annotations)) {
		if !labelName.MatchString(name) {
			return &KeyError{"annotations", fmt.Sprintf("%q is no name of an annotation", name)}
		}
	}
	return nil
}

// ValidLabels reports the first label that the API server would refuse.
func ValidLabels(labels map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if !labelName.MatchString(name) {
			return fmt.Errorf("%q is no name of a label", name)
		}
		if value := labels[name]; !labelValue.MatchString(value) {
			return fmt.Errorf("%q is no value of the label %s; use up to 63 letters, digits, dots, - and _", value, name)
		}
	}
	return nil
}

// braces are runs that Helm would read, with the braces beside them.
var braces = regexp.MustCompile(`[{}]*(\{\{|\}\})[{}]*`)

// Helm makes text that a chart renders to the text given: alert texts and
// legends have templates of their own, which Helm would take for its own.
func Helm(text []byte) []byte { return braces.ReplaceAll(text, []byte(`{{"$0"}}`)) }
