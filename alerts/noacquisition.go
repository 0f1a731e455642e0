package alerts

import (
	"fmt"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// NoAcquisition: attempts are made and none wins.
type NoAcquisition struct {
	Firing `yaml:",inline"`
	// Window is the time in which attempts and wins are counted. Locks that
	// declare an interval longer than half of it are left out.
	Window model.Duration `yaml:"window" help:"lookback window for attempts and wins"`
}

func (*NoAcquisition) about() about {
	return about{
		Condition: condition.NoAcquisition, id: "A",
		fires: "attempts are made, none wins, and no replica holds the lock",
		note:  "Attempts are made and none wins.",
	}
}

func (k *NoAcquisition) preset() {
	*k = NoAcquisition{Firing: fires(warning, 5, 10), Window: minutes(10)}
}

func (k *NoAcquisition) validate(c check) { c.windowed(k.Window, k.Firing) }

func (k *NoAcquisition) rules(b builder) []draft {
	s, window := b.scope, k.Window.String()

	expr := query.Op(s.Increased(catalog.Attempts, window), ">", "0")
	// Not "and wins == 0": a lock that never exported its wins has none (A1).
	expr = s.Without(expr, query.Op(query.Over("increase", s.Metric(catalog.Acquired), window), ">", "0"))
	// A leader that won hours ago holds while its followers try (A2).
	expr = s.Without(expr, query.Op(query.Over("max_over_time", s.Metric(catalog.Active), window), ">", "0"))
	// A lock that runs less often than the window shows is judged by the age
	// of its last run, not here: its attempts and wins need not meet (C32).
	expr = s.Without(expr, query.Op(s.Metric(catalog.ExpectedInterval), ">", seconds(half(k.Window))))

	return []draft{{
		firing: k.Firing, expr: expr,
		summary: "No replica acquires lock " + b.lock(),
		description: fmt.Sprintf("Replicas%s made about {{ $value | printf \"%%.0f\" }} attempts to acquire lock %s in the last %s. None succeeded, and no replica held the lock. "+
			"The work behind this lock is not being done.%s", b.where(), b.lock(), window, b.topReason(window)),
	}}
}
