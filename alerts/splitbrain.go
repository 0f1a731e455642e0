package alerts

import (
	"fmt"
	"time"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// SplitBrain: more leaders than the elector allows.
type SplitBrain struct {
	Firing `yaml:",inline"`
	// Tolerance is the clock skew to tolerate when times prove two leaders.
	Tolerance model.Duration `yaml:"tolerance" help:"how long after a win another replica must still lead to prove two leaders; at least the clock skew between replicas"`
	// Window is how long a replica must claim the lock in every sample before it
	// counts, if no times prove two leaders.
	Window model.Duration `yaml:"window" help:"without that proof, a replica counts as leader once every sample of this time claims the lock"`
}

func (*SplitBrain) about() about {
	return about{
		Condition: condition.SplitBrain, id: "S",
		fires: "more replicas lead a lock, with valid leases, than its elector allows",
		note:  "More replicas lead a lock than its elector allows.",
	}
}

func (k *SplitBrain) preset() {
	*k = SplitBrain{Firing: firesAfter(critical, 30, 5), Tolerance: span(1), Window: span(90)}
}

func (k *SplitBrain) validate(c check) {
	c.firing("", k.Firing)
	if k.Enabled {
		c.require(k.Tolerance > 0, "tolerance", "%s leaves nothing to clocks that differ, and every handover could fire; use the difference that your clocks keep, such as 1s", k.Tolerance)
		c.require(k.Window >= c.fresh(), "window", "%s may hold no sample where samples are %s apart, so the alert would come and go; use at least %s", k.Window, c.slowest(), c.fresh())
	}
}

func (k *SplitBrain) rules(b builder) []draft {
	s, active := b.scope, b.scope.Metric(catalog.Active, single)
	leads := query.Op(active, ">", "0")
	// Group electors allow several leaders; the default is one (S16).
	allowed := query.Op(s.By("max", s.Metric(catalog.MaxLeaders)), "or", s.By("group", leads))
	// One claim per replica: the maximum by holder merges duplicates (S4).
	claimed := func(how string, claims query.Expr) query.Expr {
		return part(how, s.By("sum", s.ByHolder("max", query.Op(leads, "and", claims))))
	}
	most := s.By("max", query.Op(claimed("proven", k.proven(b)), "or", claimed("lasting", k.lasting(b))))

	return []draft{{
		firing: k.Firing, expr: query.Op(most, ">", allowed),
		summary: "Lock " + b.lock() + " has {{ $value }} leaders at once",
		description: fmt.Sprintf("Lock %s%s has had {{ $value }} leaders at once for %s or longer, more than its elector allows: protected work may be done twice. "+
			"Look up the holder of the lock in the backend, and stop every replica that claims the lock and is not that holder.%s", b.lock(), b.where(), k.For,
			b.replicas("Claimed by", "max by ("+b.HolderLabel+") (%s) > 0", active)),
	}}
}

func (k *SplitBrain) detect(d *detector) {
	tolerance := time.Duration(k.Tolerance)
	d.level(k.Firing, "the second win", tolerance, tolerance, "overlaps shorter than SOONEST: see Overlap; replicas without a holder label of their own; pushed metrics for less than "+(k.Window+k.For).String())
}

// proven keeps samples that were taken after the last win of the lock: replicas that
// all lead in such samples lead at the same time (S22), even if only briefly. Two
// scrapes before and after a handover do not show that (S23). Push pipelines repeat
// the samples of a dead leader with new timestamps, so only replicas count that are
// scraped themselves (S25). If a collector is scraped instead of a dead leader, the
// end of the lease has passed at the sample (S28). A leader whose clock is that far
// behind is not proven, but is found by lasting.
func (k *SplitBrain) proven(b builder) query.Expr {
	s, replica := b.scope, append(b.scope.TargetLabels(), b.scope.Holder)
	lastWin := query.Op(s.By("max", s.Metric(catalog.LastAcquired)), "+", seconds(k.Tolerance))
	// A sample of the win is of the same scrape as the one of the claim, and
	// replicas that never led have none.
	after := query.Op(query.Call("timestamp", s.Metric(catalog.LastAcquired)), "> "+query.On(s.Labels)+" group_left ()", lastWin)
	scraped := query.Op(after, "and "+query.On(replica), query.Op(query.By("max", replica, s.Up()), "==", "1"))
	expiry := s.Metric(catalog.LeaseExpiry)
	return query.Op(scraped, "unless "+query.On(s.HolderLabels()), query.Op(expiry, "<", query.Call("timestamp", expiry)))
}

// lasting keeps replicas that have claimed the lock in every sample of the window:
// two scrapes before and after a handover (S2), or the last samples of a dead leader
// (S5), are not a second leader.
func (k *SplitBrain) lasting(b builder) query.Expr {
	s, active, window := b.scope, b.scope.Metric(catalog.Active), k.Window.String()
	whole := query.Op(query.Op(query.Over("min_over_time", active, window), ">", "0"), "and", query.Op(query.Offset(active, window), ">", "0"))
	// A collector continues to export what a dead leader pushed, with new timestamps.
	// Its lease end has passed and no longer moves (C35); the lease end of a live
	// leader with a slow clock still moves (S13, S15).
	expiry := s.Metric(catalog.LeaseExpiry)
	stopped := query.Op(expiry, "==", query.Offset(expiry, window))
	return query.Op(whole, "unless "+query.On(s.HolderLabels()), query.Op(stopped, "<", query.Call("time")))
}
