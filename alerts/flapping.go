package alerts

import (
	"fmt"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// Flapping: leadership of a held lock changes hands too often.
type Flapping struct {
	Firing `yaml:",inline"`
	// Window and Handovers are for a lock that moves several times in minutes. The
	// alert tolerates this many handovers, or one more than replicas left or
	// restarted in the window, if that is more.
	Window    model.Duration `yaml:"window" help:"lookback window for handovers"`
	Handovers int            `yaml:"handovers" help:"handovers to tolerate in the window, or one more than replicas left or restarted in it"`
	// Interval is the time between evaluations of the short window; 0 uses that of the
	// group.
	Interval model.Duration `yaml:"interval" help:"time between evaluations, in a group of its own; 0s uses that of the group"`
	// Slow is for a lock that moves every few minutes all day.
	Slow SlowFlapping `yaml:"slow" help:"A second, long window for a lock that moves every few minutes all day."`
}

// SlowFlapping is the second, long window of [Flapping].
type SlowFlapping struct {
	Firing    `yaml:",inline"`
	Window    model.Duration `yaml:"window" help:"lookback window for handovers"`
	Handovers int            `yaml:"handovers" help:"handovers to tolerate in the window, or one more than replicas left or restarted in it"`
	// Interval is the time between evaluations, each of which reads all samples of the
	// window; 0 uses that of the group.
	Interval model.Duration `yaml:"interval" help:"time between evaluations, in a group of its own; 0s uses that of the group"`
}

func (*Flapping) about() about {
	return about{
		Condition: condition.Flapping, id: "D",
		fires: "a held lock changes hands more often than replicas that left or restarted explain",
		note:  "Leadership of a held lock changes hands too often.",
	}
}

func (k *Flapping) preset() {
	*k = Flapping{
		Firing: fires(warning, 1, 15), Window: minutes(15), Handovers: 4, Interval: slowInterval,
		Slow: SlowFlapping{Firing: fires(warning, 30, 0), Window: minutes(6 * 60), Handovers: 12, Interval: minutes(5)},
	}
}

func (k *Flapping) validate(c check) {
	c.windowed(k.Window, k.Firing)
	c.interval(k.Interval, k.Window, k.Enabled)
	c.atLeastOne("handovers", k.Handovers, k.Enabled)
	slow := c.below("slow")
	slow.windowed(k.Slow.Window, k.Slow.Firing)
	slow.atLeastOne("handovers", k.Slow.Handovers, k.Slow.Enabled)
	slow.interval(k.Slow.Interval, k.Slow.Window, k.Slow.Enabled)
}

func (k *Flapping) rules(b builder) []draft {
	s := b.scope
	// Replicas that came and left within the window are a crash loop, not a rollout:
	// at most as many are tolerated as run at the same time (C29), and none if no
	// replica runs (D2).
	present := query.Op(query.By("count", s.Labels, s.ByHolder("max", s.Metric(catalog.Acquired, single))), "or",
		query.Op("0", "*", s.By("max", query.Over("last_over_time", s.Metric(catalog.LastAcquired, single), k.Window.String()))))
	bounded := s.By("min", query.Op(part("left", k.left(b, k.Window.String())), "or", part("present", present)))

	slow := k.Slow.Window.String()
	moves := s.By("sum", s.ByHolder("max", query.Op(query.Over("increase", s.Metric(catalog.Acquired, single), slow), ">", "0")))
	return []draft{
		k.draft(b, k.Firing, k.handovers(b), bounded, k.Handovers, k.Window).every("", k.Interval),
		k.draft(b, k.Slow.Firing, moves, k.left(b, slow), k.Slow.Handovers, k.Slow.Window).every("slow", k.Slow.Interval),
	}
}

func (k *Flapping) detect(d *detector) {
	d.every(k.Interval, k.Firing, fmt.Sprintf("the %s win within %s", ordinal(k.Handovers+1), k.Window), 0, d.scrape, "terms without a sample, if several end between two scrapes")
	d.every(k.Slow.Interval, k.Slow.Firing, fmt.Sprintf("the %s win within %s", ordinal(k.Slow.Handovers+1), k.Slow.Window), 0, d.scrape, "terms without a sample")
}

// handovers counts the wins of a lock in the short window.
func (k *Flapping) handovers(b builder) query.Expr {
	s, window := b.scope, k.Window.String()
	grown := part("grown", query.Op(query.Over("increase", s.Metric(catalog.Acquired, single), window), ">", "0"))
	// If a pod wins before its first sample, its counter starts at 1 and its increase
	// is 0, so a crash loop with new names would count nothing (C29). Therefore a
	// replica that won in the window counts at least once, but a process that starts
	// with 500 wins counts only once (D4). The maximum of both parts counts, not the
	// sum: some engines count the first sample from zero (C42).
	won := part("won", query.Call("clamp",
		query.Op(query.Over("max_over_time", s.Metric(catalog.LastAcquired, single), window), ">", b.ago(k.Window)), "1", "1"))
	return s.By("sum", s.ByHolder("max", query.Op(grown, "or", won)))
}

// left counts the replicas of a lock that left in a window, or restarted in place:
// each may have moved the leader once (C28, D8, D12). It is 0 if all stayed.
func (k *Flapping) left(b builder, window string) query.Expr {
	s, acquired := b.scope, b.scope.Metric(catalog.Acquired, single)
	// One that was there counts 1, and 1 more if it restarted; one that is there
	// counts 1 less. Of a replica that left, at most 1 is left.
	seen := query.Op(query.Call("clamp_max", s.ByHolder("max", query.Over("resets", acquired, window)), "1"), "+", "1")
	here := query.Op("-1", "*", s.ByHolder("group", acquired))
	each := s.ByHolder("sum", query.Op(part("seen", seen), "or", part("here", here)))
	return s.By("sum", query.Call("clamp_max", each, "1"))
}

func (k *Flapping) draft(b builder, f Firing, moves, left query.Expr, handovers int, window model.Duration) draft {
	tolerated := query.Call("clamp_min", query.Op(left, "+", events(1)), events(handovers))
	expr := query.Op(moves, ">", tolerated)
	// Every run under a lock for single runs is an acquisition (D6, C14). The rule
	// reads the whole window, because a single replica in a crash loop is absent most
	// of the time (D10).
	expr = b.scope.Of(expr, query.Over("last_over_time", b.scope.HoldInfo(single), k.Window.String()))
	return draft{
		firing: f, expr: expr,
		summary: "Leadership of lock " + b.lock() + " changes hands too often",
		description: fmt.Sprintf("Lock %s%s was acquired about {{ $value | printf \"%%.0f\" }} times in the last %s, more often than replicas that left or restarted explain: each handover is a gap in the leader's work. "+
			"Find out why replicas lose the lock: slow renewals, CPU throttling or backend errors.%s", b.lock(), b.where(), window, b.topCause(window.String())),
	}
}
