package alerts

import (
	"fmt"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// TokenRegressed: a fencing token was lower than one before it.
type TokenRegressed struct {
	Firing `yaml:",inline"`
	Window model.Duration `yaml:"window" help:"lookback window"`
}

func (*TokenRegressed) about() about {
	return about{
		Condition: condition.TokenRegressed, id: "K",
		fires: "a fencing token went back",
		note:  "A fencing token was lower than one before it.",
	}
}

func (k *TokenRegressed) preset() {
	*k = TokenRegressed{Firing: fires(critical, 0, 15), Window: minutes(30)}
}

func (k *TokenRegressed) validate(c check) { c.windowed(k.Window, k.Firing) }

func (k *TokenRegressed) rules(b builder) []draft {
	s, window := b.scope, k.Window.String()
	// Tokens of different locks under one label cannot be compared (K4).
	regressions, token := s.Metric(catalog.FencingTokenRegressions, single), s.Metric(catalog.FencingToken, single)

	// The counter begins with the first token. A process that restarts in
	// place remembers none, but its series does (K3).
	back := part("back", query.Op(query.Over("resets", token, window), ">", "0"))
	seen := query.Op(b.counted(regressions, window, single), "or", back)
	expr := query.Op(s.By("sum", s.ByHolder("max", seen)), ">", atLeast(1))

	return []draft{{
		firing: k.Firing, expr: expr,
		summary: "The fencing token of lock " + b.lock() + " went back",
		description: fmt.Sprintf("The fencing token of lock %s%s was lower than an earlier one in about {{ $value | printf \"%%.0f\" }} of the terms of the last %s: a store that checks tokens refuses the new leader, or has accepted an old one. "+
			"Check whether the backend was restored, emptied or replaced.%s", b.lock(), b.where(), window,
			b.replicas("Replicas that export a token", "max by ("+b.HolderLabel+") (%s)", token)),
	}}
}

func (k *TokenRegressed) detect(d *detector) {
	d.level(k.Firing, "the win with the lower token", 0, 0, "backends without tokens; replicas that never had the higher token")
}
