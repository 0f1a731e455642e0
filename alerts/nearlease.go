package alerts

import (
	"fmt"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// NearLease: runs or renewals came close to the end of their lease.
type NearLease struct {
	Firing `yaml:",inline"`
	Window model.Duration `yaml:"window" help:"lookback window"`
	// MinTimes is how often it must happen in the window.
	MinTimes int `yaml:"minTimes" help:"how often it must happen in the window"`
	// Interval is the time between evaluations; 0 uses that of the group.
	Interval model.Duration `yaml:"interval" help:"time between evaluations, in a group of its own; 0s uses that of the group"`
}

func (*NearLease) about() about {
	return about{
		Condition: condition.NearLease, id: "G",
		fires: fmt.Sprintf("a run or a renewal used more than %v %% of its lease", 100*catalog.NearLeaseBound),
		note:  "Runs or renewals come close to the end of their lease.",
	}
}

func (k *NearLease) preset() {
	*k = NearLease{Firing: fires(warning, 0, 15), Window: minutes(30), MinTimes: 1, Interval: slowInterval}
}

func (k *NearLease) validate(c check) {
	c.windowed(k.Window, k.Firing)
	c.interval(k.Interval, k.Window, k.Enabled)
	c.atLeastOne("minTimes", k.MinTimes, k.Enabled)
}

func (k *NearLease) rules(b builder) []draft {
	// A count, not a quantile: an average hides one slow run, and a quantile
	// cannot exceed the last bucket (G1).
	expr := query.Op(b.scope.NearLeases(k.Window.String()), ">", atLeast(k.MinTimes))

	return []draft{draft{
		firing: k.Firing, expr: expr,
		summary: "Lock " + b.lock() + " comes close to the end of its lease",
		description: fmt.Sprintf("Lock %s%s came close to the end of its lease in the last %s: about {{ $value | printf \"%%.0f\" }} of its runs or renewals used more than %v %% of the lease. "+
			"Renew earlier, lengthen the lease or shorten the run: if they get slower, the lease expires while the work continues.", b.lock(), b.where(), k.Window, 100*catalog.NearLeaseBound),
	}.every("", k.Interval)}
}

func (k *NearLease) detect(d *detector) {
	d.every(k.Interval, k.Firing, "the late renewal or release", 0, d.scrape, dies)
}
