// Package registerer holds what an exporter checks before it registers with a
// prometheus.Registerer: that nothing between it and the registry changes the
// names that rules and dashboards look for. No series is made here.
package registerer

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Check reports why series cannot be registered with r: there is none, or it
// adds a prefix to metric names or labels that the series cannot have.
// constant are labels that the exporter adds itself.
func Check(r prometheus.Registerer, constant prometheus.Labels) error {
	if isNil(r) {
		return errors.New("leaderscope: no registerer: pass prometheus.DefaultRegisterer or a registry")
	}
	if err := CheckLabels(constant); err != nil {
		return err
	}
	added := inspect(r)
	if added.prefix != "" {
		return fmt.Errorf("leaderscope: the registerer adds the prefix %q to metric names, and no rule or dashboard would find them: register with the registerer that it wraps, and distinguish series by constant labels", added.prefix)
	}
	for name := range added.labels {
		if _, ok := constant[name]; ok {
			return fmt.Errorf("leaderscope: constant label %q: the registerer adds this label too; leave out one of them", name)
		}
	}
	return CheckLabels(added.labels)
}

// CheckLabels reports the first constant label, by name, that no series of
// leaderscope can have: it is invalid, reserved by Prometheus, or one of our
// own. A scrape that escapes names must not make it one either.
func CheckLabels(constant prometheus.Labels) error {
	reserved := reserved()
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(constant)) {
		escaped := model.EscapeName(name, model.UnderscoreEscaping)
		switch {
		case name == "" || !utf8.ValidString(name):
			return fmt.Errorf("leaderscope: constant label %q: this is not a valid label name; choose another name", name)
		case !utf8.ValidString(constant[name]):
			return fmt.Errorf("leaderscope: constant label %q: its value is not valid UTF-8", name)
		case strings.HasPrefix(escaped, model.ReservedLabelPrefix):
			return fmt.Errorf("leaderscope: constant label %q: Prometheus reserves names that begin with two underscores", name)
		case reserved[escaped] != "":
			return fmt.Errorf("leaderscope: constant label %q: %s; choose another name", name, reserved[escaped])
		case seen[escaped] != "":
			return fmt.Errorf("leaderscope: constant label %q: it is the same as %q where names are escaped; choose another name", name, seen[escaped])
		}
		seen[escaped] = name
	}
	return nil
}

// reserved are the names that have a meaning already, and which.
func reserved() map[string]string {
	names := map[string]string{
		model.BucketLabel:       "Prometheus reserves this name for the bounds of histograms",
		model.QuantileLabel:     "Prometheus reserves this name for summaries",
		catalog.LockName.Name(): "series of leaderscope have a label of that name",
	}
	for _, m := range catalog.All() {
		for _, l := range m.Labels() {
			names[l.Name()] = names[catalog.LockName.Name()]
		}
	}
	return names
}

// added is what a registerer adds to names and labels.
type added struct {
	prefix string
	labels prometheus.Labels
}

// inspect asks a registerer for what it adds. A wrapped one does not tell, but
// a registry that refuses a description prints it, with everything that was
// added on the way. Where the answer is not understood, nothing is added.
func inspect(r prometheus.Registerer) added {
	err := r.Register(probe{})
	if err == nil {
		r.Unregister(probe{})
		return added{}
	}
	found := description.FindStringSubmatch(err.Error())
	if found == nil {
		return added{}
	}
	prefix, ours := strings.CutSuffix(unquoted(found[1]), probeName)
	if !ours {
		return added{}
	}
	a := added{prefix: prefix, labels: prometheus.Labels{}}
	for _, pair := range labelPair.FindAllStringSubmatch(found[2], -1) {
		a.labels[pair[1]] = unquoted(pair[2])
	}
	return a
}

var (
	description = regexp.MustCompile(`fqName: ("(?:[^"\\]|\\.)*").*constLabels: \{(.*)\}, variableLabels: `)
	labelPair   = regexp.MustCompile(`([^=,]+)=("(?:[^"\\]|\\.)*")`)
)

func unquoted(s string) string {
	text, _ := strconv.Unquote(s) // empty beside an error
	return text
}

// probe is a collector that every registry refuses, because its description
// has a label that Prometheus reserves.
type probe struct{}

const probeName = "leaderscope_probe"

// Describe implements prometheus.Collector.
func (probe) Describe(descs chan<- *prometheus.Desc) {
	descs <- prometheus.NewDesc(probeName, "Never registered: asks what a registerer adds.", nil, prometheus.Labels{"__probe": ""})
}

// Collect implements prometheus.Collector.
func (probe) Collect(chan<- prometheus.Metric) {}

func isNil(r prometheus.Registerer) bool {
	v := reflect.ValueOf(r)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}
