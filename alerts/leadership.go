package alerts

import (
	"fmt"
	"time"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

// outline lists the alerts in the order of the rules file. Each returns one
// draft per severity.
var outline = []func(builder) []draft{
	noAcquisition,
	noLeader,
	splitBrain,
	flapping,
	backendErrors,
	renewalFailures,
	nearLease,
	leaseExceeded,
	lowHeadroom,
	workAfterLoss,
	jobOverdue,
	taskFailing,
	tokenRegressed,
	metricsAbsent,
	lockVanished,
	scrapeFailing,
	redactionKeyMismatch,
	labelOverflow,
}

// The label of a lock is kept by every expression; alerts that take a label
// for one lock leave out those that locks share (C21).
var single = query.SingleLock()

func noAcquisition(b builder) []draft {
	k, s := b.Alerts.NoAcquisition, b.scope
	window := k.Window.String()

	expr := query.Op(s.Increased(catalog.Attempts, window), ">", "0")
	// Not "and wins == 0": a lock that never exported its wins has none (A1).
	expr = query.Op(expr, "unless", query.Op(s.Increased(catalog.Acquired, window), ">", "0"))
	// A leader that won hours ago holds while its followers try (A2).
	expr = query.Op(expr, "unless", query.Op(s.By("max", query.Over("max_over_time", s.Metric(catalog.Active), window)), ">", "0"))
	// A lock that runs less often than the window shows is judged by the age
	// of its last run, not here: its attempts and wins need not meet (C32).
	expr = query.Op(expr, "unless", query.Op(s.By("max", s.Metric(catalog.ExpectedInterval)), ">", seconds(half(k.Window))))

	return []draft{{
		name: "NoAcquisition", firing: k.Firing, expr: expr, panel: panel.Outcomes,
		summary: "Nobody acquires lock " + b.lock(),
		description: fmt.Sprintf("Replicas%s tried to acquire lock %s in the last %s and none succeeded, nor did any hold it. "+
			"Work behind this lock is not being done. The reasons are in %s.", b.where(), b.lock(), window, catalog.NotAcquired.Name()),
	}}
}

func noLeader(b builder) []draft {
	k, s := b.Alerts.NoLeader, b.scope
	active := s.Metric(catalog.Active, single)
	step := b.ScrapeInterval.String()

	expr := query.Op(s.By("max", active), "==", "0")
	// A lock around single runs is free most of the time (B7).
	expr = query.Op(expr, "and", query.Op(s.Hold(single), "==", "1"))
	if k.LeaseFactor > 0 {
		// After a crash the lock stays taken until its lease ends, and some
		// backends add a delay: a long lease makes a long gap (C44).
		lastSeen := query.Over("max_over_time", query.Call("timestamp", query.Op(active, ">", "0")), k.Lookback.String()+":"+step)
		gap := query.Op(query.Call("time"), "-", s.By("max", lastSeen))
		allowed := query.Op(query.Number(k.LeaseFactor), "*", s.By("max", s.Metric(catalog.LeaseDuration, single)))
		expr = query.Op(expr, "unless", query.Op(gap, "<", allowed))
	}
	// The leader may be the replica that cannot be scraped (B3): its followers
	// say 0 and its own series is gone. That is worth a look, not a page.
	// A target that has been down for long is dead, and would turn every page
	// about its job into a warning (B12).
	down := query.Op(query.Op(s.Up(), "==", "0"), "and", query.Op(query.Over("max_over_time", s.Up(), k.DeadAfter.String()), "==", "1"))
	onTargets := query.On(s.TargetLabels())
	allUp := query.Op(expr, "unless "+onTargets, down)
	someDown := query.Op(expr, "and "+onTargets, down)

	summary := "Lock " + b.lock() + " has no leader"
	return []draft{{
		name: "NoLeader", firing: k.Critical, expr: allUp, panel: panel.Leaders, summary: summary,
		description: fmt.Sprintf("No replica%s has held lock %s for %s beyond the gap that its lease explains, although no target went down lately. "+
			"What the leader does is not being done.", b.where(), b.lock(), k.Critical.For),
	}, {
		name: "NoLeader", firing: k.Warning, expr: someDown, panel: panel.Leaders, summary: summary + " that can be scraped",
		description: fmt.Sprintf("No replica%s that can be scraped has held lock %s for %s. At least one target went down lately, and the leader may be alive there.",
			b.where(), b.lock(), k.Warning.For),
	}}
}

func splitBrain(b builder) []draft {
	k, s := b.Alerts.SplitBrain, b.scope

	// One claim per replica, and only of replicas that claimed the lock in
	// every sample of the window: two scrapes that straddle a handover (S2),
	// or the last words of a dead leader (S5), are no second leader. The
	// maximum by holder merges duplicates of one replica (S4).
	active := s.Metric(catalog.Active, single)
	claims := s.ByHolder("max", query.Over("min_over_time", active, k.Window.String()))
	// A collector goes on handing out what a dead leader pushed, with fresh
	// timestamps: once the lease had ended before the sample was taken, the
	// claim is void (C35). One scrape interval is left for clocks that differ.
	expiry := s.Metric(catalog.LeaseExpiry, single)
	taken := query.Op(s.ByHolder("max", query.Call("timestamp", expiry)), "-", seconds(b.ScrapeInterval))
	claims = query.Op(claims, "unless", query.Op(s.ByHolder("max", expiry), "<", taken))
	// Group electors allow several leaders (max_leaders).
	expr := query.Op(s.By("sum", claims), ">", s.By("max", s.Metric(catalog.MaxLeaders, single)))

	return []draft{{
		name: "SplitBrain", firing: k.Firing, expr: expr, panel: panel.Holders,
		summary: "Lock " + b.lock() + " has {{ $value }} leaders at once",
		description: fmt.Sprintf("Lock %s%s is claimed {{ $value }} times at once, more than its elector allows, and has been for more than %s. "+
			"Work that the lock should keep apart may be done twice.%s", b.lock(), b.where(), k.For+k.Window,
			b.replicas("Claimed by", "max by ("+b.HolderLabel+") (%s) > 0", active)),
	}}
}

func flapping(b builder) []draft {
	k, s := b.Alerts.Flapping, b.scope
	window := k.Window.String()
	acquired := s.Metric(catalog.Acquired, single)

	grown := part("grown", query.Over("increase", acquired, window))
	// A pod that wins before its first sample is born at 1, and its increase
	// is 0: a crash loop under fresh names would count nothing (C29). Whoever
	// won in the window counts at least once, whatever a process first seen
	// with 500 wins says (D4). The larger part counts, not the sum: some
	// engines count the first sample from zero by themselves (C42).
	since := query.Op(query.Call("time"), "-", seconds(k.Window))
	won := part("won", query.Call("clamp",
		query.Op(query.Over("max_over_time", s.Metric(catalog.LastAcquired, single), window), ">", since), "1", "1"))
	handovers := s.By("sum", s.ByHolder("max", query.Op(grown, "or", won)))
	// A rolling restart moves the leader up to once a replica (C28, D8).
	atOnce := query.By("count", s.Labels, s.ByHolder("max", s.Metric(catalog.Active, single)))
	replicas := query.Over("max_over_time", atOnce, window+":"+b.ScrapeInterval.String())
	tolerated := query.Call("clamp_min", query.Op(replicas, "+", events(1)), events(k.Handovers))
	expr := query.Op(handovers, ">", tolerated)
	// Every run of a run-style lock is an acquisition (D6, C14). Asked of the
	// window: a lone replica in a crash loop is mostly not there (D10).
	expr = query.Op(expr, "and", query.Op(s.HeldWithin(window, single), "==", "1"))

	return []draft{{
		name: "Flapping", firing: k.Firing, expr: expr, panel: panel.Transitions,
		summary: "Leadership of lock " + b.lock() + " changes hands too often",
		description: fmt.Sprintf("Lock %s%s was acquired about {{ $value | printf \"%%.0f\" }} times in the last %s, more often than a rolling restart explains. "+
			"Each handover is a gap in the leader's work.", b.lock(), b.where(), window),
	}}
}

// part keeps two vectors with equal labels apart below one "or". No series of
// a server has a label that begins with __.
func part(name string, e query.Expr) query.Expr {
	return query.Call("label_replace", e, query.Text("__part__"), query.Text(name), query.Text(""), query.Text(""))
}

// events is a threshold that n events do not pass and n+1 do: increase
// extrapolates, and one event can read 1.1.
func events(n int) query.Expr { return query.Number(float64(n) + 0.5) }

// atLeast is a threshold that n events pass and n-1 do not.
func atLeast(n int) query.Expr { return events(n - 1) }

func seconds(d model.Duration) query.Expr { return query.Number(time.Duration(d).Seconds()) }
