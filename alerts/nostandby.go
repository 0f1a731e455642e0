package alerts

import (
	"fmt"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// NoStandby: a failover would find no other candidate, where there were
// several before.
type NoStandby struct {
	Firing `yaml:",inline"`
	// Lookback is how long ago there may have been more candidates.
	Lookback model.Duration `yaml:"lookback" help:"how long candidates that are gone are missed"`
	// Interval is the time between evaluations; 0 uses that of the group.
	Interval model.Duration `yaml:"interval" help:"time between evaluations, in a group of its own; 0s uses that of the group"`
}

func (*NoStandby) about() about {
	return about{
		Condition: condition.NoStandby, id: "N",
		fires: "a held lock has no candidate besides its leader, and had several before",
		note:  "A failover would find no other candidate, where there were several before.",
	}
}

func (k *NoStandby) preset() {
	*k = NoStandby{Firing: fires(warning, 10, 0), Lookback: minutes(6 * 60), Interval: minutes(5)}
}

func (k *NoStandby) validate(c check) {
	c.missed(k.Lookback, k.Firing)
	c.interval(k.Interval, k.Lookback, k.Enabled)
}

func (k *NoStandby) rules(b builder) []draft {
	s := b.scope
	candidates := query.By("count", s.Labels, s.ByHolder("max", s.HoldInfo(single)))
	allowed := query.Op(s.By("max", s.Metric(catalog.MaxLeaders, single)), "or", s.By("group", s.HoldInfo(single)))
	before := query.OverSteps("max_over_time", candidates, k.Lookback.String(), b.coarse(k.Lookback))
	// A lock that never had more candidates needs none (N2).
	expr := query.Op(candidates, "<=", query.Op(allowed, "<", before))

	return []draft{draft{
		firing: k.Firing, expr: expr,
		summary: "Lock " + b.lock() + " has no standby",
		description: fmt.Sprintf("Lock %s%s has no standby: only {{ $value }} of its replicas can hold it, and more could within the last %s. "+
			"Start the missing replicas, or check why they do not campaign: if the leader fails, no replica takes over.",
			b.lock(), b.where(), k.Lookback),
	}.every("", k.Interval)}
}

func (k *NoStandby) detect(d *detector) {
	d.every(k.Interval, k.Firing, "the exit of the last other candidate", 0, d.scrape, "locks that never had another candidate; candidates that run but hang")
}
