package query

import "github.com/leaderscope/leaderscope/instrument/catalog"

// Handover is what replicas say of their last terms: since when they led, and
// when they stopped, on their own clocks. What was said within a window counts,
// so that a replica which is gone by now is heard.
type Handover struct {
	// Won and Ended are by lock and holder, LastWin is by lock.
	Won, Ended, LastWin Expr
	scope               Scope
}

// Handover of each lock, from what was said within a window.
func (s Scope) Handover(window string, matchers ...Matcher) Handover {
	last := func(m *catalog.Metric) Expr { return Over("last_over_time", s.Metric(m, matchers...), window) }
	return Handover{
		Won: s.ByHolder("max", last(catalog.LastAcquired)), Ended: s.ByHolder("max", last(catalog.LastEnded)),
		LastWin: s.By("max", last(catalog.LastAcquired)), scope: s,
	}
}

// Compared joins an expression by lock and holder to one by lock.
func (h Handover) Compared(e Expr, op string, ofLock Expr) Expr {
	return Op(e, op+" "+On(h.scope.Labels)+" group_left ()", ofLock)
}

// Losers began before the last winner.
func (h Handover) Losers() Expr { return h.Compared(h.Won, "<", h.LastWin) }

// Winner is the replica that won last.
func (h Handover) Winner() Expr { return h.Compared(h.Won, "==", h.LastWin) }

// Gap is the time from the end of the term before the last win to that win,
// negative where the two terms overlapped. Where the leader before did not say
// when it ended, because it died first, there is none.
func (h Handover) Gap() Expr {
	before := h.scope.By("max", h.Losers())
	other := Op(Op(h.Ended, "and", h.Compared(h.Won, "==", before)), "and", Op(h.Ended, ">", h.Won))
	// A replica that wins again had the term before itself.
	itself := Op(Op(Op(h.Ended, "and", h.Winner()), "and", Op(h.Ended, "<", h.Won)), "unless", h.Compared(h.Ended, "<", before))
	return Op(h.LastWin, "-", h.scope.By("max", Op(other, "or", itself)))
}
