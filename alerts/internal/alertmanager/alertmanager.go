// Package alertmanager is the file format of Alertmanager, as far as the
// generated configuration uses it.
package alertmanager

import (
	"fmt"
	"regexp"
	"strings"
)

// File is a configuration. Source: config/config.go of Alertmanager.
type File struct {
	Inhibit   []InhibitRule `yaml:"inhibit_rules"`
	Route     Route         `yaml:"route"`
	Receivers []Receiver    `yaml:"receivers"`
}

// InhibitRule mutes the target while the source fires.
type InhibitRule struct {
	Source []string `yaml:"source_matchers,flow"`
	Target []string `yaml:"target_matchers,flow"`
	Equal  []string `yaml:"equal,flow"`
}

// Route sends what its matchers choose to a receiver.
type Route struct {
	Receiver       string   `yaml:"receiver"`
	Matchers       []string `yaml:"matchers,flow,omitempty"`
	GroupBy        []string `yaml:"group_by,flow,omitempty"`
	GroupWait      string   `yaml:"group_wait,omitempty"`
	GroupInterval  string   `yaml:"group_interval,omitempty"`
	RepeatInterval string   `yaml:"repeat_interval,omitempty"`
	Routes         []Route  `yaml:"routes,omitempty"`
}

// Receiver is a name without a way to notify.
type Receiver struct {
	Name string `yaml:"name"`
}

// Matcher chooses a label that has one of the values.
func Matcher(label string, values ...string) string {
	if len(values) == 1 {
		return fmt.Sprintf("%s=%q", label, values[0])
	}
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = regexp.QuoteMeta(v)
	}
	return fmt.Sprintf("%s=~%q", label, strings.Join(quoted, "|"))
}
