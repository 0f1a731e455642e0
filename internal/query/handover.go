package query

import "github.com/leaderscope/leaderscope/instrument/catalog"

// Handover has the start and the end of the last terms of replicas, by the clocks of
// the replicas. It reads a window, to include replicas that are gone now.
type Handover struct {
	// Won and Ended are by lock and holder, LastWin is by lock.
	Won, Ended, LastWin Expr
	scope               Scope
}

// Handover returns the handovers of each lock within a window.
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

// Gap is the time from the end of the previous term to the last win; negative if the
// two terms overlapped. It is missing if the previous leader died before it exported
// the end of its term.
func (h Handover) Gap() Expr {
	before := h.scope.By("max", h.Losers())
	other := Op(Op(h.Ended, "and", h.Compared(h.Won, "==", before)), "and", Op(h.Ended, ">", h.Won))
	// If a replica wins again, it also had the previous term.
	itself := Op(Op(Op(h.Ended, "and", h.Winner()), "and", Op(h.Ended, "<", h.Won)), "unless", h.Compared(h.Ended, "<", before))
	return Op(h.LastWin, "-", h.scope.By("max", Op(other, "or", itself)))
}
