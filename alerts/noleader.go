package alerts

import (
	"fmt"
	"slices"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// NoLeader: a lock that is meant to be held has no holder.
type NoLeader struct {
	// Margin is added to the last known lease end: until then the absence is
	// explained. It covers clocks that differ and delays of the backend.
	Margin model.Duration `yaml:"margin" help:"time after the last known lease end that a failover may take"`
	// DownFor is how long the absence is excused where the replica that held
	// the lock last cannot be scraped: it may lead, unseen.
	DownFor model.Duration `yaml:"downFor" help:"how long the last holder, seen down, may still be taken for alive"`
	// Lookback bounds the search for the last lease end: it must be longer than
	// the longest lease.
	Lookback model.Duration `yaml:"lookback" help:"how far back a lease end is searched; longer than the longest lease"`
	// Critical fires where nothing explains the absence.
	Critical Firing `yaml:"critical" help:"While neither the last lease nor a holder that is down explains the absence."`
	// Warning fires where a lease or a holder that is down explains it.
	Warning Firing `yaml:"warning" help:"While one of the two does."`
}

func (*NoLeader) about() about {
	return about{
		Condition: condition.NoLeader, id: "B",
		fires: "a held lock has no leader for longer than its last lease explains",
		note:  "A lock that is meant to be held has no holder.",
	}
}

func (k *NoLeader) preset() {
	*k = NoLeader{
		Margin: span(30), DownFor: minutes(3), Lookback: minutes(120),
		// The warning is kept until the critical alert takes over from it.
		Critical: firesAfter(critical, 90, 0), Warning: fires(warning, 5, 3),
	}
}

func (k *NoLeader) validate(c check) {
	c.firing("critical", k.Critical)
	c.firing("warning", k.Warning)
	c.distinct("warning", k.Critical, k.Warning)
	if k.Critical.Enabled || k.Warning.Enabled {
		c.require(k.Margin >= 0, "margin", "%s is negative; use 0s or more", k.Margin)
		c.require(k.DownFor >= 2*c.slowest(), "downFor", "%s is shorter than two samples %s apart, so one missed scrape could page; use at least %s", k.DownFor, c.slowest(), 2*c.slowest())
		c.require(k.Lookback >= k.DownFor, "lookback", "%s is shorter than downFor, which is %s; make it longer", k.Lookback, k.DownFor)
	}
}

func (k *NoLeader) rules(b builder) []draft {
	s := b.scope
	expr := k.leaderless(b)
	leased := k.running(b)
	unseen := query.Op(leased, "or", k.unseen(b))
	// What is excused for less time than the warning waits for adds nothing to it.
	warned := leased
	if k.DownFor > k.Warning.For {
		warned = unseen
	}
	summary := "Lock " + b.lock() + " has no leader"
	reason := b.topReason("5m") + b.reportedHeld("2m")
	return []draft{{
		firing: k.Critical, expr: s.Without(s.Without(expr, k.explained(b, unseen)), k.witnessed(b)), summary: summary,
		description: fmt.Sprintf("No replica%s has held lock %s for %s, and no lease that is known still runs. "+
			"The work of the leader is not being done.%s", b.where(), b.lock(), k.Critical.For, reason),
	}, {
		firing: k.Warning, expr: s.Of(expr, query.Op(k.explained(b, warned), "or", k.witnessed(b))), summary: summary + " that can be seen",
		description: fmt.Sprintf("No replica%s that can be scraped has held lock %s for %s. The replica that held it last is gone. "+
			"Its lease may still run, or it leads without being scraped.%s", b.where(), b.lock(), k.Warning.For, reason),
	}}
}

// leaderless keeps held locks that no replica leads; a lock around single runs
// is free most of the time (B7). Nor may another job of the scope lead: a canary
// with a job label of its own need not, and of blue and green one does (B14).
// One lock has one label, family and backend.
func (k *NoLeader) leaderless(b builder) query.Expr {
	s, held, active := b.scope, b.scope.HoldInfo(single), b.scope.Metric(catalog.Active, single)
	same := slices.DeleteFunc(slices.Clone(s.Labels), func(l string) bool { return l == "job" })
	if len(same) < len(s.Labels) {
		for _, l := range catalog.ElectorInfo.Labels() {
			same = append(same, l.Name())
		}
	}
	led := s.Of(held, query.Op(active, ">", "0"))
	return s.By("group", query.Op(s.Of(held, active), "unless "+query.On(same), led))
}

// explained keeps locks whose last holder vanished while it held, where a
// reason says so of that replica. No other target counts (B9, B15), nor a
// holder that gave the lock back before it left (B18), nor one after which
// another replica won (B19).
func (k *NoLeader) explained(b builder, reason query.Expr) query.Expr {
	s, lookback := b.scope, k.Lookback.String()
	onHolder, won := query.On(s.HolderLabels()), s.Metric(catalog.LastAcquired, single)

	// Of a lock without a leader, a replica whose last word is that it holds is
	// gone.
	held := query.Op(query.Over("last_over_time", s.Metric(catalog.Active, single), lookback), ">", "0")
	followed := query.Op(query.Over("last_over_time", won, lookback), "< "+query.On(s.Labels)+" group_left ()", s.By("max", won))
	gone := query.Op(query.Op(held, "and "+onHolder, reason), "unless "+onHolder, followed)
	// Where the backend says that the lock is free, nothing explains it (B41).
	return s.Without(gone, query.Op(s.Metric(catalog.BackendHeld, single), "==", "0"))
}

// witnessed keeps locks of which the backend names a live holder that is one of
// the candidates: it leads, and cannot be scraped (B40). The lock of a stranger
// is not led (B42).
func (k *NoLeader) witnessed(b builder) query.Expr {
	s := b.scope
	candidates := query.Over("last_over_time", s.Metric(catalog.IdentityInfo, single), k.Lookback.String())
	holder, _ := catalog.BackendHolderInfo.Label("holder")
	return query.Op(query.Op(s.Metric(catalog.BackendHolderInfo, single), "==", "1"), "and "+query.On(append(slices.Clone(s.Labels), holder.Name())), candidates)
}

// running keeps leases that need not have ended yet: no other replica can win
// before (C44).
func (k *NoLeader) running(b builder) query.Expr {
	return query.Op(query.Over("last_over_time", b.scope.Metric(catalog.LeaseExpiry, single), k.Lookback.String()), ">", b.ago(k.Margin))
}

// unseen keeps winners that were seen lately and cannot be scraped now: they
// may lead.
func (k *NoLeader) unseen(b builder) query.Expr {
	s, replica := b.scope, append(b.scope.TargetLabels(), b.scope.Holder)
	down := query.Op(query.By("max", replica, s.Up()), "==", "0")
	return query.Op(query.Over("last_over_time", s.Metric(catalog.LastAcquired, single), k.DownFor.String()), "and "+query.On(replica), down)
}
