package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
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
	// traces say where rules of ours were wrong.
	traces []string
	// afterLease is the time from when no lease explained the missing leader to the first page.
	afterLease map[fleet.Kind][]time.Duration
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
		incidents: map[fleet.Kind]int{}, paged: map[fleet.Kind]int{}, pages: map[fleet.Kind]int{}, first: map[fleet.Kind][]time.Duration{}, afterLease: map[fleet.Kind][]time.Duration{},
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
	traces  []string
}

func judgeWorld(ctx context.Context, w fleet.World, rules []rule, mutes []inhibition, keep map[string]bool) (*outcome, error) {
	h, err := w.Run(func(name string) bool { return keep[name] })
	if err != nil {
		return nil, err
	}
	step := cmp.Or(w.Evaluation, w.Scrape)
	e := newEvaluation(h, w.Length, step)
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
	for key, fired := range byKey {
		i := slices.IndexFunc(judged, func(j judgedRule) bool { return j.of(key) })
		if i < 0 {
			continue
		}
		if j := judged[i]; j.skip == nil || !j.skip(w) {
			g := newFigures(j.fault)
			g.judge(j, h, fired)
			out.traces = append(out.traces, g.traces(j, w, h)...)
			out.figures[key] = g
		}
	}
	out.pages = pages(all, mutes, step)
	return out, nil
}

// unpaged is how long a lock may be free without a page: more than any target.
const unpaged = 5 * time.Minute

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
	s.traces = append(s.traces, o.traces...)
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
			if free := slices.IndexFunc(o.history.Free, func(f fleet.Span) bool { return f.Meets(o.history.Incidents[i].Span) }); free >= 0 {
				s.afterLease[kind] = append(s.afterLease[kind], p.at-o.history.Free[free].From)
			}
		}
		s.pages[kind]++
	}
	for n, i := range o.history.Incidents {
		s.incidents[i.Kind]++
		if mine[n] > 0 {
			continue
		}
		// Without a page, the time until it is at least that of the fault.
		for _, f := range o.history.Free {
			if f.Meets(i.Span) && f.Length() > unpaged {
				s.afterLease[i.Kind] = append(s.afterLease[i.Kind], f.Length())
			}
		}
	}
}

// with adds up what can be added of two studies.
func (s *study) with(o *study) *study {
	sum := &study{
		weeks: s.weeks + o.weeks, figures: map[string]*figures{}, incidents: map[fleet.Kind]int{}, paged: map[fleet.Kind]int{},
		pages: map[fleet.Kind]int{}, first: map[fleet.Kind][]time.Duration{}, stray: slices.Concat(s.stray, o.stray),
	}
	for _, part := range []*study{s, o} {
		for key, g := range part.figures {
			if sum.figures[key] == nil {
				sum.figures[key] = &figures{seen: make([]int, len(g.seen)), faults: make([]int, len(g.faults))}
			}
			sum.figures[key].add(g)
		}
		for k, n := range part.incidents {
			sum.incidents[k] += n
			sum.paged[k] += part.paged[k]
			sum.pages[k] += part.pages[k]
			sum.first[k] = append(sum.first[k], part.first[k]...)
		}
	}
	return sum
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
