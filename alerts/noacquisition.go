package alerts

import (
	"fmt"
	"time"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// NoAcquisition: all attempts to acquire a lock fail.
type NoAcquisition struct {
	Firing `yaml:",inline"`
	// Window is the time in which attempts and wins are counted. Locks that
	// declare an interval longer than half of it are left out.
	Window model.Duration `yaml:"window" help:"lookback window for attempts and wins"`
}

func (*NoAcquisition) about() about {
	return about{
		Condition: condition.NoAcquisition, id: "A",
		fires: "all attempts to acquire a lock fail, and no replica holds it",
		note:  "All attempts to acquire a lock fail.",
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
		summary: "No replica can acquire lock " + b.lock(),
		description: fmt.Sprintf("About {{ $value | printf \"%%.0f\" }} attempts to acquire lock %s%s in the last %s have all failed, and no replica held the lock: its work is not being done. "+
			"Check the backend, and look up the holder of the lock there.%s", b.lock(), b.where(), window, b.topReason(window)),
	}}
}

func (k *NoAcquisition) detect(d *detector) {
	window := time.Duration(k.Window)
	d.timed(k.Firing, "the end of the last run or term", window-d.scrape, window, shorter)
}
