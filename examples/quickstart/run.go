package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// play goes through the chosen phases and reports whether each set off what
// it should.
func (d *demo) play(ctx context.Context, chosen map[int]bool) (bool, error) {
	if err := d.allUp(ctx); err != nil {
		return false, err
	}
	d.screen.say(allAreUp)
	steps := plan(script(d.leader, d.job), chosen)
	right := true
	for i, s := range steps {
		if d.outside != nil {
			s.expect = append(s.expect, s.outside...)
		}
		title := headOf(i, len(steps), s)
		d.announcePhase(title, s.phase)
		d.setPhase(title)
		begin := time.Now()
		v, err := d.perform(ctx, s.phase)
		d.played = append(d.played, played{s.number, s.title, begin, time.Now(), v, err})
		if err != nil {
			return false, fmt.Errorf("phase %d: %w", s.number, err)
		}
		d.tell(v, time.Since(begin))
		right = right && v.ok()
	}
	return right, d.observer.unhealthy()
}

// announcePhase prints what begins, and what it should set off.
func (d *demo) announcePhase(title string, p phase) {
	d.screen.say("%s", title)
	d.screen.item("expected", d.locks.describe(p.expect))
}

// headOf is the line above a phase: its place among those that are played, and
// its number.
func headOf(i, of int, s step) string {
	return fmt.Sprintf("[%d/%d] Phase %d: %s", i+1, of, s.number, s.title)
}

// perform runs one phase: the fault, the alerts, the cure, and until nothing
// still fires.
func (d *demo) perform(ctx context.Context, p phase) (verdict, error) {
	v := verdict{expected: p.expect}
	if !p.recovery {
		if err := d.ready(ctx); err != nil {
			return v, err
		}
	}
	_, before := d.observer.current()
	d.observer.forget()
	checks, err := p.act(ctx, d)
	if err != nil {
		return v, err
	}
	// What does not come is for the verdict to say.
	missing := until(ctx, "the alerts", patience, func() (bool, error) {
		return satisfied(p.expect, d.observer.record()), nil
	})
	if ctx.Err() != nil {
		return v, context.Cause(ctx)
	}
	if missing == nil {
		wait(ctx, p.lasts)
	}
	if len(p.expect) == 0 {
		if err := d.quiet(ctx, quietSpan); err != nil {
			return v, err
		}
	}
	if p.cure != nil {
		if err := p.cure(ctx, d); err != nil {
			return v, err
		}
		if err := d.calm(ctx); err != nil {
			checks = append(checks, check{text: err.Error()})
		}
	}
	v.fired = without(d.observer.record(), before)
	for _, c := range checks {
		v.note(c)
	}
	if missing != nil {
		v.note(check{text: missing.Error()})
	}
	return v, nil
}

// ready waits for what every phase begins with, whichever was played before:
// one leader, and a job that has run lately.
func (d *demo) ready(ctx context.Context) error {
	if err := d.allUp(ctx); err != nil {
		return err
	}
	if _, err := d.onlyLeader(ctx, ""); err != nil {
		return err
	}
	ran := fmt.Sprintf("sum(increase(%s{%s=%q}[10s])) >= 1", catalog.Acquired.Name(), lockLabel, d.job)
	return until(ctx, "a run of the job", patience, func() (bool, error) {
		runs, err := d.observer.query(ctx, ran)
		return len(runs) > 0, err
	})
}

// quietSpan is how long a phase looks whether nothing fires.
const quietSpan = 6 * time.Second

// calm waits until nothing fires and nothing is about to.
func (d *demo) calm(ctx context.Context) error {
	var pending, firing []alarm
	err := until(ctx, "the alerts to resolve", patience, func() (bool, error) {
		pending, firing = d.observer.current()
		return len(pending)+len(firing) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("%w; pending: %s; firing: %s", err, d.locks.describe(pending), d.locks.describe(firing))
	}
	return nil
}

func (v *verdict) note(c check) {
	if c.ok {
		v.notes = append(v.notes, c.text)
	} else {
		v.failed = append(v.failed, c.text)
	}
}

// tell prints a verdict.
func (d *demo) tell(v verdict, took time.Duration) {
	for _, n := range v.notes {
		d.screen.item("seen", n)
	}
	d.screen.item("fired", d.locks.describe(v.fired))
	for _, f := range v.failed {
		d.screen.item("wrong", f)
	}
	if m := v.missing(); len(m) > 0 {
		d.screen.item("missing", d.locks.describe(m))
	}
	if s := v.surplus(); len(s) > 0 {
		d.screen.item("surplus", d.locks.describe(s))
	}
	word := "as expected"
	if !v.ok() {
		word = "NOT as expected"
	}
	d.screen.say("      %s, %.0f s\n", word, took.Seconds())
}

// drawing keeps the table up to date until ctx ends.
func (d *demo) drawing(ctx context.Context) {
	for wait(ctx, 250*time.Millisecond) {
		d.screen.draw(d.view(ctx))
	}
	d.screen.close()
}

// view is the table as of now. A query that fails leaves its cells empty.
func (d *demo) view(ctx context.Context) view {
	pending, firing := d.observer.current()
	v := view{phase: d.currentPhase(), pending: d.locks.describe(pending), firing: d.locks.describe(firing)}
	up, _ := d.observer.query(ctx, "up")
	leads, _ := d.value(ctx, catalog.Active, d.leader)
	headroom, _ := d.value(ctx, catalog.LeaseHeadroom, d.leader)
	job, _ := d.value(ctx, catalog.Running, d.job)
	v.store = d.storeView(ctx)
	afterLoss, _ := d.observer.query(ctx, fmt.Sprintf("sum by (instance) (%s)", catalog.WorkAfterLoss.Name()))
	for _, name := range d.cluster.names() {
		r := replicaView{name: name, process: d.cluster.state(name), scraped: "up"}
		if up[name] == 0 {
			r.scraped = "down"
		}
		if leads[name] == 1 {
			r.leads = "leads"
		}
		r.headroom = inSeconds(headroom, name)
		if job[name] > 0 {
			r.job = "runs"
		}
		r.afterLoss = inSeconds(afterLoss, name)
		v.replicas = append(v.replicas, r)
	}
	return v
}

// storeView is a line about what the store has checked.
func (d *demo) storeView(ctx context.Context) string {
	admitted, _ := d.checks(ctx, catalog.FencingAdmitted)
	refused, _ := d.checks(ctx, catalog.FencingStale)
	highest, _ := d.highest(ctx)
	return fmt.Sprintf("%.0f writes admitted, %.0f late ones refused; the highest token is %.0f", admitted, refused, highest)
}

func inSeconds(values map[string]float64, name string) string {
	if v, ok := values[name]; ok {
		return strings.TrimSpace(fmt.Sprintf("%.1f s", v))
	}
	return ""
}
