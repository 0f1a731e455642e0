package alerts

import (
	"fmt"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// LeaseExceeded: terms ran past the end of their lease.
type LeaseExceeded struct {
	Firing `yaml:",inline"`
	Window model.Duration `yaml:"window" help:"lookback window"`
	// MinTimes is how often it must happen in the window.
	MinTimes int `yaml:"minTimes" help:"how often it must happen in the window"`
}

func (*LeaseExceeded) about() about {
	return about{
		Condition: condition.LeaseExceeded, id: "L",
		fires: "a term ran past the end of its lease",
		note:  "Terms run past the end of their lease.",
	}
}

func (k *LeaseExceeded) preset() {
	*k = LeaseExceeded{Firing: fires(critical, 0, 15), Window: minutes(30), MinTimes: 1}
}

func (k *LeaseExceeded) validate(c check) {
	c.windowed(k.Window, k.Firing)
	c.atLeastOne("minTimes", k.MinTimes, k.Enabled)
}

func (k *LeaseExceeded) rules(b builder) []draft {
	s, window := b.scope, k.Window.String()
	overruns := s.Metric(catalog.LeaseOverruns)

	// The series begins when the lease is first known, so a short lease can
	// be overrun before the first sample (C27).
	expr := query.Op(s.By("sum", s.ByHolder("max", b.counted(overruns, window))), ">", atLeast(k.MinTimes))

	return []draft{{
		firing: k.Firing, expr: expr,
		summary: "Lock " + b.lock() + " was held past the end of its lease",
		description: fmt.Sprintf("Lock %s%s was held past the end of its lease in the last %s, in about {{ $value | printf \"%%.0f\" }} of its terms: another replica could take the lock while the work continued. "+
			"Check for work that was done twice, and find out why the run or its renewals were slow.%s", b.lock(), b.where(), window,
			b.replicas("Replicas", fmt.Sprintf("max by (%s) (max_over_time(%%s[%s])) > 0", b.HolderLabel, window), overruns)),
	}}
}

func (k *LeaseExceeded) detect(d *detector) {
	d.level(k.Firing, "the end of the lease", 0, 0, dies+"; leases whose end is unknown")
}
