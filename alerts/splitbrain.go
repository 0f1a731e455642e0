package alerts

import (
	"fmt"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// SplitBrain: more leaders than the elector allows.
type SplitBrain struct {
	Firing `yaml:",inline"`
	// Window is how long a replica must claim the lock in every sample before
	// it counts.
	Window model.Duration `yaml:"window" help:"a replica counts once it has claimed the lock in every sample of this time"`
}

func (*SplitBrain) about() about {
	return about{
		Condition: condition.SplitBrain, id: "S",
		fires: "more leaders than the elector allows, with live leases",
		note:  "More leaders than the elector allows.",
	}
}

func (k *SplitBrain) preset() { *k = SplitBrain{Firing: fires(critical, 1, 5), Window: span(75)} }

func (k *SplitBrain) validate(c check) {
	c.firing("", k.Firing)
	if k.Enabled {
		c.require(k.Window >= c.fresh(), "window", "%s may hold no sample where samples are %s apart, so the alert would come and go; use at least %s", k.Window, c.slowest(), c.fresh())
		c.require(k.Window+k.For >= 2*c.slowest(), "for", "%s and the window of %s are shorter than two samples %s apart, and a handover can look like two leaders for one; use at least %s", k.For, k.Window, c.slowest(), 2*c.slowest()-k.Window)
	}
}

func (k *SplitBrain) rules(b builder) []draft {
	s, active := b.scope, b.scope.Metric(catalog.Active, single)

	// One claim per replica, and only of replicas that claimed the lock in
	// every sample of the window: two scrapes that straddle a handover (S2),
	// or the last words of a dead leader (S5), are no second leader. The
	// maximum by holder merges duplicates of one replica (S4).
	claims := s.ByHolder("max", query.Op(query.Over("min_over_time", active, k.Window.String()), ">", "0"))
	// A collector goes on handing out what a dead leader pushed, with fresh
	// timestamps. Its lease end has passed and has stopped moving (C35); the
	// one of a live leader whose clock is behind moves on (S13, S15).
	expiry := s.Metric(catalog.LeaseExpiry, single)
	stopped := query.Op(expiry, "==", query.Offset(expiry, k.Window.String()))
	claims = query.Op(claims, "unless", query.Op(s.ByHolder("max", stopped), "<", query.Call("time")))
	// Group electors allow several leaders; where nothing says so it is one (S16).
	allowed := query.Op(s.By("max", s.Metric(catalog.MaxLeaders, single)), "or", s.By("group", active))
	expr := query.Op(s.By("sum", claims), ">", allowed)

	return []draft{{
		firing: k.Firing, expr: expr,
		summary: "Lock " + b.lock() + " has {{ $value }} leaders at once",
		description: fmt.Sprintf("Lock %s%s is claimed {{ $value }} times at once, more than its elector allows, and has been for about %s. "+
			"Work that the lock should keep apart may be done twice.%s", b.lock(), b.where(), k.For+k.Window,
			b.replicas("Claimed by", "max by ("+b.HolderLabel+") (%s) > 0", active)),
	}}
}
