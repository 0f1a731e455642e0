package main

import (
	"fmt"
	"slices"
	"time"

	amlabels "github.com/prometheus/alertmanager/pkg/labels"
	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"

	"github.com/leaderscope/leaderscope/alerts"
)

// inhibition is one of the rules that gen-dashboards makes for Alertmanager.
type inhibition struct {
	source, target amlabels.Matchers
	equal          []string
}

// inhibitions reads them back from the file that users load.
func inhibitions(c alerts.Config) ([]inhibition, error) {
	data, err := alerts.Alertmanager(c, alerts.DefaultRouting())
	if err != nil {
		return nil, err
	}
	var file struct {
		Rules []struct {
			Source []string `yaml:"source_matchers"`
			Target []string `yaml:"target_matchers"`
			Equal  []string `yaml:"equal"`
		} `yaml:"inhibit_rules"`
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	var out []inhibition
	for _, r := range file.Rules {
		source, err := parseAll(r.Source)
		if err != nil {
			return nil, err
		}
		target, err := parseAll(r.Target)
		if err != nil {
			return nil, err
		}
		out = append(out, inhibition{source, target, r.Equal})
	}
	return out, nil
}

func parseAll(texts []string) (all amlabels.Matchers, err error) {
	for _, text := range texts {
		ms, err := amlabels.ParseMatchers(text)
		if err != nil {
			return nil, fmt.Errorf("inhibition %s: %w", text, err)
		}
		all = append(all, ms...)
	}
	return all, nil
}

func labelSet(f firing) model.LabelSet {
	set := model.LabelSet{}
	for name, value := range f.labels.Map() {
		set[model.LabelName(name)] = model.LabelValue(value)
	}
	return set
}

// groupWait is that of pages in the route that goes with the rules.
const groupWait = 10 * time.Second

// page is a critical alert that reaches a person.
type page struct {
	firing
	at time.Duration
}

// pages are the critical firings that no other alert mutes, each at the first
// evaluation at which nothing does.
func pages(all []firing, rules []inhibition, step time.Duration) []page {
	var out []page
	for _, f := range all {
		if f.rule.foreign || f.rule.severity != "critical" {
			continue
		}
		muting := sources(f, all, rules)
		for at := f.From; at < f.To || at == f.From; at += step {
			muted := slices.ContainsFunc(muting, func(m firing) bool { return m.From <= at+groupWait && at < m.To })
			if !muted {
				out = append(out, page{f, at})
				break
			}
		}
	}
	slices.SortFunc(out, func(a, b page) int { return int(a.at - b.at) })
	return out
}

// sources are the firings that mute one while they last.
func sources(f firing, all []firing, rules []inhibition) (out []firing) {
	target := labelSet(f)
	for _, r := range rules {
		if !r.target.Matches(target) {
			continue
		}
		for _, other := range all {
			if other.rule.foreign || other.From >= f.To || other.To <= f.From {
				continue
			}
			source := labelSet(other)
			// An alert that is both does not mute itself.
			if !r.source.Matches(source) || r.target.Matches(source) && r.source.Matches(target) {
				continue
			}
			if !slices.ContainsFunc(r.equal, func(l string) bool { return target[model.LabelName(l)] != source[model.LabelName(l)] }) {
				out = append(out, other)
			}
		}
	}
	return out
}
