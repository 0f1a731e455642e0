package alerts

import (
	"fmt"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// LowHeadroom: a lease that is held is about to expire. NearLease is about
// leases that were renewed or released late.
type LowHeadroom struct {
	Firing `yaml:",inline"`
	// Share of the lease, from 0 to 1, below which the alert fires.
	Share float64 `yaml:"share" help:"share of the lease, 0 to 1, below which it fires"`
}

func (*LowHeadroom) about() about {
	return about{
		Condition: condition.LowHeadroom, id: "H",
		fires: "a lease that is held is about to expire",
		note:  "A lease that is held is about to expire; alerts.nearLease is about leases that were renewed or released late.",
	}
}

func (k *LowHeadroom) preset() {
	*k = LowHeadroom{Firing: firesAfter(warning, 90, 5), Share: 0.2}
}

func (k *LowHeadroom) validate(c check) {
	c.firing("", k.Firing)
	c.require(!k.Enabled || k.Share > 0 && k.Share < 1, "share", "%v is not a valid share of a lease; use 0.01 to 0.99", k.Share)
	c.require(!k.Enabled || k.For > c.fresh(), "for", "%s is not longer than the %s for which one sample counts, so one dip would fire; use at least %s", k.For, c.fresh(), 2*c.fresh()-c.slowest())
}

func (k *LowHeadroom) rules(b builder) []draft {
	s := b.scope
	headroom := s.Metric(catalog.LeaseHeadroom, single)

	// Each replica against its own lease, which a rollout may change.
	left := query.Op(headroom, "/", s.Metric(catalog.LeaseDuration, single))
	// If no stale marker is written, the last sample of a run that ended close to its
	// lease stays for five minutes (H6).
	fresh := query.Over("present_over_time", headroom, b.fresh().String())
	expr := s.By("min", query.Op(query.Op(left, "<", query.Number(k.Share)), "and", fresh))

	return []draft{{
		firing: k.Firing, expr: expr,
		summary: "The lease of lock " + b.lock() + " is about to expire",
		description: fmt.Sprintf("The lease of lock %s%s has had less than %v %% of its time left for more than %s, now {{ $value | humanizePercentage }} (negative: expired). "+
			"Find out why the replica does not renew the lease, or why its run takes so long: when the lease expires, another replica can take the lock while the work continues.%s", b.lock(), b.where(), 100*k.Share, k.For,
			b.replicas("Replicas", "min by ("+b.HolderLabel+") (%s)", headroom)),
	}}
}

func (k *LowHeadroom) detect(d *detector) {
	d.level(k.Firing, "the time at which the share of the lease is left", 0, 0, shorter+"; leases whose end is unknown")
}
