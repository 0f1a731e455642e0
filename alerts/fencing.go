package alerts

import (
	"fmt"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

func tokenRegressed(b builder) []draft {
	k, s := b.Alerts.TokenRegressed, b.scope
	window := k.Window.String()
	// Tokens of different locks below one label say nothing together (K4).
	regressions, token := s.Metric(catalog.FencingTokenRegressions, single), s.Metric(catalog.FencingToken, single)

	// The counter begins with the first token. A process that restarts in
	// place remembers none, but its series does (K3).
	back := part("back", query.Over("resets", token, window))
	seen := query.Op(b.counted(regressions, window, single), "or", back)
	expr := query.Op(s.By("sum", s.ByHolder("max", seen)), ">", atLeast(1))

	return []draft{{
		name: "TokenRegressed", firing: k.Firing, expr: expr, panel: panel.Transitions,
		summary: "The fencing token of lock " + b.lock() + " went back",
		description: fmt.Sprintf("Terms of lock %s%s whose fencing token was lower than an earlier one, in the last %s: about {{ $value | printf \"%%.0f\" }}. "+
			"A store that fences refuses the new leader, or has let an old one through.%s", b.lock(), b.where(), window,
			b.replicas("Replicas with a token of it", "max by ("+b.HolderLabel+") (%s)", token)),
	}}
}
