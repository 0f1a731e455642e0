package alerts

import (
	"fmt"
	"time"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// Overlap: two terms of a lock overlapped, according to the times that their
// replicas export. The overlap is over when the alert fires, even if it was short.
type Overlap struct {
	Firing `yaml:",inline"`
	// Tolerance is the overlap that clock skew may explain.
	Tolerance model.Duration `yaml:"tolerance" help:"overlap to tolerate; at least the clock skew between replicas"`
	// Window is how long after its end an overlap is detected.
	Window model.Duration `yaml:"window" help:"lookback window for terms that ended"`
	// Interval is the time between evaluations; 0 uses that of the group.
	Interval model.Duration `yaml:"interval" help:"time between evaluations, in a group of its own; 0s uses that of the group"`
}

func (*Overlap) about() about {
	return about{
		Condition: condition.Overlap, id: "Q",
		fires: "two terms of a lock overlapped, even briefly, according to the times that their replicas export",
		note:  "Two terms of a lock overlapped, according to the times that their replicas export.",
	}
}

func (k *Overlap) preset() {
	*k = Overlap{Firing: fires(warning, 0, 5), Tolerance: span(1), Window: minutes(6), Interval: slowInterval}
}

func (k *Overlap) validate(c check) {
	c.windowed(k.Window, k.Firing)
	c.interval(k.Interval, k.Window, k.Enabled)
	if k.Enabled {
		c.require(k.Tolerance > 0, "tolerance", "%s leaves nothing to clocks that differ, and every handover could fire; use the difference that your clocks keep, such as 1s", k.Tolerance)
		c.require(k.Tolerance < k.Window, "tolerance", "%s hides every overlap of the window of %s; use less", k.Tolerance, k.Window)
	}
}

func (k *Overlap) rules(b builder) []draft {
	s, onHolder := b.scope, query.On(b.scope.HolderLabels())
	h := s.Handover(k.Window.String())
	won, ended := k.said(b, catalog.LastAcquired), k.said(b, catalog.LastEnded)
	// Labels that several locks share are left out here; the rest is joined to
	// it. So is what ended long ago, which leaves few terms to join.
	recent := query.Op(k.said(b, catalog.LastEnded, single), ">", b.ago(k.Window))

	// A loser began before the last winner, and ended after the winner had won; its
	// value is the time from that win to that end. The replicas export both times, so
	// no scrape needs to have shown two leaders (Q1). It counts while the winner
	// leads: a winner that stopped before did not replace the loser (Q17). Two ends
	// that differ by less than clocks do are the same time (Q25).
	late := query.Op(h.Compared(recent, "-", h.LastWin), ">", seconds(k.Tolerance))
	winner := h.Compared(won, "==", h.LastWin)
	guestsEnd := s.By("max", query.Op(query.Op(ended, ">", won), "and", winner))
	late = query.Op(late, "unless", h.Compared(recent, ">", query.Op(guestsEnd, "+", seconds(k.Tolerance))))
	// The last winner may be the one that stopped while the other continued to lead
	// (Q4): later renewals or scrapes of the other show that it never stopped.
	proofs := query.Any(part("ended", ended), part("renewed", k.renewed(b)), part("scraped", k.scraped(b)))
	led := s.By("max", query.Op(proofs, "and "+onHolder, h.Compared(won, "<", h.LastWin)))
	outlasted := h.Compared(recent, "<", query.Op(led, "-", seconds(k.Tolerance)))
	expr := query.Op(late, "unless "+onHolder, query.Op(winner, "unless "+onHolder, outlasted))
	// Group electors have several leaders on purpose (Q6).
	several := query.Op(s.By("max", s.Metric(catalog.MaxLeaders)), ">", "1")

	return []draft{draft{
		firing: k.Firing, expr: query.Op(s.By("max", expr), "unless", several),
		summary: "Two terms of lock " + b.lock() + " overlapped",
		description: fmt.Sprintf("Lock %s%s was held by two replicas at once for about {{ $value | humanizeDuration }} within the last %s: protected work may have been done twice. "+
			"Compare the logs and results of both replicas for that time.%s", b.lock(), b.where(), k.Window,
			b.replicas("Replicas whose terms ended recently", "max by ("+b.HolderLabel+") (%s) > time() - "+fmt.Sprint(time.Duration(k.Window).Seconds()), s.Metric(catalog.LastEnded, single))),
	}.every("", k.Interval)}
}

func (k *Overlap) detect(d *detector) {
	d.every(k.Interval, k.Firing, "the end of the overlap", 0, d.scrape,
		fmt.Sprintf("overlaps of at most %s; overlaps whose loser dies before its next scrape; all overlaps while the clock skew exceeds %[1]s", k.Tolerance))
}

// said is what replicas exported last about their terms within the window.
func (k *Overlap) said(b builder, m *catalog.Metric, matchers ...query.Matcher) query.Expr {
	return query.Over("last_over_time", b.scope.Metric(m, matchers...), k.Window.String())
}

// renewed is when replicas that lead sent their last renewal. On push pipelines it
// does not change when a collector repeats samples (Q8).
func (k *Overlap) renewed(b builder) query.Expr {
	return query.Op(b.scope.Metric(catalog.LeaseExpiry), "-", b.scope.Metric(catalog.LeaseDuration))
}

// scraped is when replicas that lead were last scraped, if they are scraped
// directly. It replaces renewals that are hours apart, or hidden.
func (k *Overlap) scraped(b builder) query.Expr {
	s := b.scope
	// Standbys that never led have no such series: there are fewer of them.
	leads := query.Op(query.Call("timestamp", s.Metric(catalog.LastAcquired)), "and", query.Op(s.Metric(catalog.Active), ">", "0"))
	replica := append(s.TargetLabels(), s.Holder)
	return query.Op(leads, "and "+query.On(replica), query.Op(query.By("max", replica, s.Up()), "==", "1"))
}
