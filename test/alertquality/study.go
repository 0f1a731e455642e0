package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/test/alertquality/fleet"
)

// study is a number of worlds and what was found in them.
type study struct {
	worlds []fleet.World
	rules  []rule
	mutes  []inhibition
	// weeks is how long all worlds took together, in weeks.
	weeks float64
	// figures of the rules that are judged, by key.
	figures map[string]*figures
	// counts are the firings of each of our rules, judged or not.
	counts map[string]int
	// pages and paged are by kind of incident: those that reached a person,
	// and the incidents that had any.
	incidents, paged, pages map[fleet.Kind]int
	// first is the time from an incident to its first page.
	first map[fleet.Kind][]time.Duration
	// stray are pages outside of incidents.
	stray []string
	// wrongs and missed say where judged rules of ours were wrong.
	wrongs []string
}

// rulesOf are the rules of a configuration and those found elsewhere.
func rulesOf(c alerts.Config) ([]rule, error) {
	rules, err := ours(c)
	if err != nil {
		return nil, err
	}
	return append(rules, found()...), nil
}

// newStudy runs the worlds, two at a time or as many as there are processors.
func newStudy(ctx context.Context, worlds []fleet.World, rules []rule, mutes []inhibition) (*study, error) {
	s := &study{
		worlds: worlds, rules: rules, mutes: mutes, figures: map[string]*figures{}, counts: map[string]int{},
		incidents: map[fleet.Kind]int{}, paged: map[fleet.Kind]int{}, pages: map[fleet.Kind]int{}, first: map[fleet.Kind][]time.Duration{},
	}
	keep, err := metrics(rules)
	if err != nil {
		return nil, err
	}
	results := make([]*outcome, len(worlds))
	errs := make([]error, len(worlds))
	var wait sync.WaitGroup
	tickets := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, w := range worlds {
		wait.Go(func() {
			tickets <- struct{}{}
			defer func() { <-tickets }()
			results[i], errs[i] = judgeWorld(ctx, w, slices.Clone(rules), mutes, keep)
		})
	}
	wait.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("world of %s: %w", worlds[i], err)
		}
		s.take(results[i])
	}
	return s, nil
}

// outcome is what one world showed.
type outcome struct {
	world   fleet.World
	history *fleet.History
	figures map[string]*figures
	counts  map[string]int
	pages   []page
	wrongs  []string
}

func judgeWorld(ctx context.Context, w fleet.World, rules []rule, mutes []inhibition, keep map[string]bool) (*outcome, error) {
	h, err := w.Run(func(name string) bool { return keep[name] })
	if err != nil {
		return nil, err
	}
	e := newEvaluation(h, w.Length, w.Scrape)
	out := &outcome{world: w, history: h, figures: map[string]*figures{}, counts: map[string]int{}}
	h.Series, e.history.Series = nil, nil // the evaluation has them
	byKey := map[string][]firing{}
	var all []firing
	for i := range rules {
		fired, err := e.firings(ctx, &rules[i])
		if err != nil {
			return nil, err
		}
		byKey[rules[i].key] = fired
		out.counts[rules[i].key] += len(fired)
		all = append(all, fired...)
	}
	judged := held
	if w.Every > 0 {
		judged = run
	}
	for _, j := range judged {
		if fired, there := byKey[j.key]; there && (j.skip == nil || !j.skip(w)) {
			g := newFigures(j.fault)
			g.judge(j, h, fired)
			if !strings.Contains(j.key, ",") && !strings.Contains(j.key, ":") {
				for _, f := range g.wrongs {
					in := "none"
					for _, i := range h.Incidents {
						if i.From <= f.From {
							in = fmt.Sprint(i)
						}
					}
					out.wrongs = append(out.wrongs, fmt.Sprintf("FALSE %s %s..%s %v in %s after %s, hidden %v push %v waiting %v", j.key, f.From, f.To, f.value, w, in, w.Hidden, w.Push, w.Waiting))
				}
				for _, m := range g.missed {
					in := "none"
					for _, i := range h.Incidents {
						if i.From <= m.From {
							in = fmt.Sprint(i)
						}
					}
					if m.Length() > 150*time.Second || j.key == "Overlap warning" {
						out.wrongs = append(out.wrongs, fmt.Sprintf("MISSED %s %s..%s in %s after %s, hidden %v push %v waiting %v", j.key, m.From, m.To, w, in, w.Hidden, w.Push, w.Waiting))
					}
				}
			}
			out.figures[j.key] = g
		}
	}
	out.pages = pages(all, mutes, w.Scrape)
	return out, nil
}

// aftermath is how long after an incident a page still belongs to it.
const aftermath = 10 * time.Minute

func (s *study) take(o *outcome) {
	s.weeks += o.world.Length.Hours() / (7 * 24)
	for key, g := range o.figures {
		if s.figures[key] == nil {
			s.figures[key] = g
			continue
		}
		s.figures[key].add(g)
	}
	for key, n := range o.counts {
		s.counts[key] += n
	}
	s.wrongs = append(s.wrongs, o.wrongs...)
	mine := make([]int, len(o.history.Incidents))
	for _, p := range o.pages {
		i := slices.IndexFunc(o.history.Incidents, func(i fleet.Incident) bool { return i.From <= p.at && p.at <= i.To+aftermath })
		if i < 0 {
			s.stray = append(s.stray, fmt.Sprintf("%s: %s at %s", o.world, p.rule.key, p.at.Round(time.Second)))
			continue
		}
		kind := o.history.Incidents[i].Kind
		if mine[i]++; mine[i] == 1 {
			s.first[kind] = append(s.first[kind], p.at-o.history.Incidents[i].From)
			s.paged[kind]++
		}
		s.pages[kind]++
	}
	for _, i := range o.history.Incidents {
		s.incidents[i.Kind]++
	}
}

// pagesPerIncident is over the incidents that paged at all.
func (s *study) pagesPerIncident() float64 {
	var pages, paged int
	for kind, n := range s.pages {
		pages, paged = pages+n, paged+s.paged[kind]
	}
	if paged == 0 {
		return 0
	}
	return float64(pages) / float64(paged)
}
