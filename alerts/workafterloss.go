package alerts

import (
	"fmt"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// WorkAfterLoss: a guarded body continued after its lock was lost.
type WorkAfterLoss struct {
	Firing `yaml:",inline"`
	Window model.Duration `yaml:"window" help:"lookback window"`
	// Tolerance is how much work after loss one replica may do in the window:
	// noticing a loss takes a moment.
	Tolerance model.Duration `yaml:"tolerance" help:"work after loss to tolerate in the window"`
}

func (*WorkAfterLoss) about() about {
	return about{
		Condition: condition.WorkAfterLoss, id: "W",
		fires: "guarded work continued after its lock was lost",
		note:  "Work continues after its lock is lost.",
	}
}

func (k *WorkAfterLoss) preset() {
	*k = WorkAfterLoss{Firing: fires(critical, 0, 15), Window: minutes(30), Tolerance: span(5)}
}

func (k *WorkAfterLoss) validate(c check) {
	c.windowed(k.Window, k.Firing)
	c.require(!k.Enabled || k.Tolerance >= 0 && k.Tolerance < k.Window, "tolerance",
		"%s is not between 0 and the window of %s, which one replica cannot exceed; make it shorter", k.Tolerance, k.Window)
}

func (k *WorkAfterLoss) rules(b builder) []draft {
	s, window := b.scope, k.Window.String()
	work := s.Metric(catalog.WorkAfterLoss)

	// The worst replica, not the sum: noticing a loss takes each a moment.
	// The window is long so that a process that was suspended, and could not
	// be scraped meanwhile, is caught by its sample before and after (C16).
	expr := s.By("max", query.Op(query.Over("increase", work, window), ">", seconds(k.Tolerance)))

	return []draft{{
		firing: k.Firing, expr: expr,
		summary: "Work continued after lock " + b.lock() + " was lost",
		description: fmt.Sprintf("Work under lock %s%s continued for {{ $value | humanizeDuration }} in the last %s after the replica had lost the lock: another replica may have done the same work at the same time. "+
			"Check for work that was done twice, and make the work stop when its context ends.%s", b.lock(), b.where(), window,
			b.replicas("Replicas", fmt.Sprintf("max by (%s) (increase(%%s[%s])) > %s", b.HolderLabel, window, seconds(k.Tolerance)), work)),
	}}
}

func (k *WorkAfterLoss) detect(d *detector) {
	d.level(k.Firing, "the end of the tolerated time after the loss", 0, 0, dies)
}
