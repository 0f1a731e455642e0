package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/leaderscope/leaderscope/test/alertquality/fleet"
)

// boundsFile has the figures of the check when they were recorded last.
const boundsFile = "alertquality/bounds.yaml"

// bounds are figures that must not get worse.
type bounds struct {
	// PagesPerIncident is over incidents that page, in hundredths.
	PagesPerIncident int `yaml:"pagesPerIncident"`
	// StrayPages came outside of incidents.
	StrayPages int              `yaml:"strayPages"`
	Rules      map[string]bound `yaml:"rules"`
}

// bound is what is recorded of one rule.
type bound struct {
	// Detection is p95, in whole seconds.
	Detection int `yaml:"detection"`
	// Seen are the faults that were seen, of Faults, by class of length.
	Seen   []int `yaml:"seen,flow"`
	Faults []int `yaml:"faults,flow"`
	// FalseCalm and FalseStress are firings without a fault.
	FalseCalm   int `yaml:"falseCalm"`
	FalseStress int `yaml:"falseStress"`
}

// checkWorlds are few enough for every change: the seeds never change.
func checkWorlds() (calm, stress []fleet.World) {
	const scrape = 30 * time.Second
	return heldWorlds(tuningSeed, 3, scrape, fleet.Calm()), heldWorlds(tuningSeed+1000, 5, scrape, fleet.Stress())
}

// check compares the figures of a few worlds with those that were recorded, or
// records them.
func check(ctx context.Context, rules []rule, mutes []inhibition, record bool) error {
	var own []rule
	for _, r := range rules {
		if !r.foreign {
			own = append(own, r)
		}
	}
	calmWorlds, stressWorlds := checkWorlds()
	calm, err := newStudy(ctx, calmWorlds, own, mutes)
	if err != nil {
		return err
	}
	stress, err := newStudy(ctx, stressWorlds, own, mutes)
	if err != nil {
		return err
	}
	got := measured(calm, stress)
	if record {
		return writeBounds(got)
	}
	data, err := os.ReadFile(boundsFile)
	if err != nil {
		return err
	}
	var want bounds
	if err := yaml.Unmarshal(data, &want); err != nil {
		return fmt.Errorf("%s: %w", boundsFile, err)
	}
	worse, better := got.compare(want)
	for _, line := range better {
		log.Print("better: ", line)
	}
	for _, line := range worse {
		log.Print("worse: ", line)
	}
	if len(worse) > 0 {
		return fmt.Errorf("%d figures are worse than %s says; mend the rules, or record what is meant with go run ./alertquality -record", len(worse), boundsFile)
	}
	return nil
}

func writeBounds(b bounds) error {
	var out bytes.Buffer
	out.WriteString("# Recorded by go run ./alertquality -record, in test: figures that a change of the rules must not make worse.\n")
	if err := yaml.NewEncoder(&out).Encode(b); err != nil {
		return err
	}
	return os.WriteFile(boundsFile, out.Bytes(), 0o644)
}

func measured(calm, stress *study) bounds {
	both := calm.with(stress)
	b := bounds{PagesPerIncident: int(100 * both.pagesPerIncident()), StrayPages: len(both.stray), Rules: map[string]bound{}}
	for key, g := range stress.figures {
		one := bound{Detection: int(percentile(g.detection, 0.95).Seconds()), Seen: g.seen, Faults: g.faults, FalseStress: g.wrong}
		if c := calm.figures[key]; c != nil {
			one.FalseCalm = c.wrong
		}
		b.Rules[key] = one
	}
	return b
}

// compare says which figures are worse than the recorded ones, and which are
// better, in the order of the rules.
func (b bounds) compare(want bounds) (worse, better []string) {
	say := func(what string, got, bound int, moreIsBetter bool) {
		switch line := fmt.Sprintf("%s: %d, recorded %d", what, got, bound); {
		case got == bound:
		case got > bound == moreIsBetter:
			better = append(better, line)
		default:
			worse = append(worse, line)
		}
	}
	say("pages per incident, in hundredths", b.PagesPerIncident, want.PagesPerIncident, false)
	say("pages outside of incidents", b.StrayPages, want.StrayPages, false)
	for _, key := range slices.Sorted(maps.Keys(want.Rules)) {
		got, there := b.Rules[key]
		bound := want.Rules[key]
		if !there {
			worse = append(worse, key+": is not there any more")
			continue
		}
		if !slices.Equal(got.Faults, bound.Faults) {
			worse = append(worse, fmt.Sprintf("%s: the worlds have faults %v, recorded %v: the simulation has changed, record it again", key, got.Faults, bound.Faults))
			continue
		}
		if bound.Detection > 0 {
			say(key+": detection p95 in seconds", got.Detection, bound.Detection, false)
		}
		for i := range bound.Seen {
			say(fmt.Sprintf("%s: faults seen of length class %d", key, i+1), got.Seen[i], bound.Seen[i], true)
		}
		say(key+": false on the calm mix", got.FalseCalm, bound.FalseCalm, false)
		say(key+": false on the stress mix", got.FalseStress, bound.FalseStress, false)
	}
	return worse, better
}
