package alerts

import (
	"fmt"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// StaleWrite: a store refused writes of a term that another has followed.
type StaleWrite struct {
	Firing `yaml:",inline"`
	Window model.Duration `yaml:"window" help:"lookback window"`
	// MinTimes is how many writes must be refused in the window.
	MinTimes int `yaml:"minTimes" help:"how many writes must be refused in the window"`
}

func (*StaleWrite) about() about {
	return about{
		Condition: condition.StaleWrite, id: "Z", ofStore: true,
		fires: "a store refused a write whose fencing token was too old",
		note:  "A store refused writes whose fencing token was too old.",
	}
}

func (k *StaleWrite) preset() {
	*k = StaleWrite{Firing: fires(warning, 0, 15), Window: minutes(30), MinTimes: 1}
}

func (k *StaleWrite) validate(c check) {
	c.windowed(k.Window, k.Firing)
	c.atLeastOne("minTimes", k.MinTimes, k.Enabled)
}

func (k *StaleWrite) rules(b builder) []draft {
	s, window := b.scope, k.Window.String()
	result, _ := catalog.FencingChecks.Label("result")
	stale := s.Metric(catalog.FencingChecks, query.Equal(result.Name(), catalog.FencingStale.String()))

	// The series is at 0 from the making of the guard on, so the increase
	// misses only what is refused before the first sample (Z6). Guards of
	// several replicas refuse different writes: they add up (Z3).
	refused := query.Op(query.Over("increase", stale, window), ">", "0")
	expr := query.Op(s.By("sum", s.ByHolder("max", refused)), ">", atLeast(k.MinTimes))

	return []draft{{
		firing: k.Firing, expr: expr,
		summary: "A store refused late writes under lock " + b.lock(),
		description: fmt.Sprintf("A store%[2]s refused about {{ $value | printf \"%%.0f\" }} of the writes under lock %[1]s in the last %[3]s, because it had already seen a higher fencing token: a replica kept writing after it lost the lock. "+
			"Find that replica in the logs of the store, and check its actions that carry no token.%[4]s", b.lock(), b.where(), window,
			b.replicas("Reported by", fmt.Sprintf("max by (%s) (increase(%%s[%s])) > 0", b.HolderLabel, window), stale)),
	}}
}

func (k *StaleWrite) detect(d *detector) {
	d.level(k.Firing, "the write that was refused", 0, 0, dies+"; writes that do not pass a guard")
}
