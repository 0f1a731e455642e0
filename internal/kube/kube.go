// Package kube has what Kubernetes objects have in common: their metadata, and
// escaping for Helm charts. It knows no kind of object; alerts and dashboards use it
// for theirs.
package kube

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Object names an object and says what is attached to it.
type Object struct {
	Name string `yaml:"name"`
	// Namespace may be empty: then it is that of the client that applies the object.
	Namespace   string            `yaml:"namespace,omitempty"`
	Labels      map[string]string `yaml:"labels,omitempty"`
	Annotations map[string]string `yaml:"annotations,omitempty"`
}

// With returns the object with another name, and with further labels and
// annotations. Existing ones are kept.
func (o Object) With(name string, labels, annotations map[string]string) Object {
	return Object{Name: name, Namespace: o.Namespace, Labels: merged(labels, o.Labels), Annotations: merged(annotations, o.Annotations)}
}

func merged(from, over map[string]string) map[string]string {
	m := map[string]string{}
	maps.Copy(m, from)
	maps.Copy(m, over)
	return m
}

// The formats that the API server requires.
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

// Validate reports everything that the API server would refuse, as [*KeyError] joined
// with [errors.Join].
func (o Object) Validate() error {
	var bad []error
	require := func(ok bool, key, format string, args ...any) {
		if !ok {
			bad = append(bad, &KeyError{key, fmt.Sprintf(format, args...)})
		}
	}
	require(len(o.Name) <= 253 && subdomain.MatchString(o.Name), "name", "%q is not a valid object name; use at most 253 lower-case letters, digits, - and dots", o.Name)
	require(o.Namespace == "" || len(o.Namespace) <= 63 && dnsLabel.MatchString(o.Namespace), "namespace", "%q is not a valid namespace; use at most 63 lower-case letters, digits and -", o.Namespace)
	for _, name := range slices.Sorted(maps.Keys(o.Labels)) {
		require(isName(name), "labels", "%q is not a valid label name; use letters, digits, dots, - and _", name)
		require(labelValue.MatchString(o.Labels[name]), "labels", "%q is not a valid value of the label %s; use at most 63 letters, digits, dots, - and _", o.Labels[name], name)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Annotations)) {
		require(isName(name), "annotations", "%q is not a valid annotation name; use letters, digits, dots, - and _", name)
	}
	return errors.Join(bad...)
}

// isName checks the name of a label or of an annotation, which may have a domain as
// prefix.
func isName(name string) bool {
	prefix, _, prefixed := strings.Cut(name, "/")
	return labelName.MatchString(name) && (!prefixed || len(prefix) <= 253)
}

// braces matches braces that Helm would expand, with the braces beside them.
var braces = regexp.MustCompile(`[{}]*(\{\{|\}\})[{}]*`)

// Helm escapes text so that a chart renders it unchanged: alert texts and legends
// contain templates of their own, which Helm would expand.
func Helm(text []byte) []byte { return braces.ReplaceAll(text, []byte(`{{"$0"}}`)) }
