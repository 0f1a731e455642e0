package main

// faults are changes for the worse that could be made in good faith,
// and that the changes made by program do not include.
var faults = []fault{
	// What is known of one lock.
	{
		what: "active counts lapsed leases", folder: "instrument/internal/lock", in: "State.Active",
		good: "!t.ended && t.Stopped() == 0 && !s.pastEnd(t, now)", bad: "!t.ended && t.Stopped() == 0",
	},
	{
		what: "active stays while the release is under way", folder: "instrument/internal/lock", in: "State.Active",
		good: "!t.ended && t.Stopped() == 0 && !s.pastEnd(t, now)", bad: "!t.ended && !s.pastEnd(t, now)",
	},
	{
		what: "an attempt that waited is part of the lease", folder: "instrument/internal/lock", in: "wonAt",
		good: "return min(max(start, end.Add(-length)), now)", bad: "return start",
	},
	{
		what: "a wait longer than the lease is born dead", folder: "instrument/internal/lock", in: "State.Win",
		good: "end == 0 && !w.Observed && !w.Endless && w.Now.Sub(start) < length", bad: "end == 0 && !w.Observed && !w.Endless",
	},
	{
		what: "a lease that never ends has an end", folder: "instrument/internal/lock", in: "EndOf",
		good: "length <= 0 || length > Horizon", bad: "length <= 0",
	},
	{
		what: "instants overflow", folder: "instrument/internal/lock", in: "Instant.Add",
		good: "return math.MaxInt64", bad: "return sum",
	},
	{
		what: "a held leadership whose renewals are unseen lapses", folder: "instrument/internal/lock", in: "State.End",
		good: "s.Params.Hidden || t.hidden || s.Params.Hold && !t.renewalsVisible", bad: "s.Params.Hidden || t.hidden",
	},
	{
		what: "renewals that the library hides give an end", folder: "instrument/internal/lock", in: "State.End",
		good: "s.Params.Hidden || t.hidden || s.Params.Hold && !t.renewalsVisible", bad: "t.hidden || s.Params.Hold && !t.renewalsVisible",
	},
	{
		what: "a lease that says that its renewals are hidden has an end", folder: "instrument/internal/lock", in: "State.End",
		good: "s.Params.Hidden || t.hidden || s.Params.Hold && !t.renewalsVisible", bad: "s.Params.Hidden || s.Params.Hold && !t.renewalsVisible",
	},
	{
		what: "the first renewal that is seen proves the end before it", folder: "instrument/internal/lock", in: "State.renewalObserved",
		good: "if s.End(t) == 0 { t.end = 0 }", bad: "",
	},
	{
		what: "an answer out of order moves the end back", folder: "instrument/internal/lock", in: "State.extend",
		good: "r.Sent != 0 && r.Sent < decided", bad: "false",
	},
	{
		what: "a renewal whose sending is unknown moves the end back", folder: "instrument/internal/lock", in: "State.extend",
		good: "r.Sent != 0 || end == 0 || end > t.end", bad: "true",
	},
	{
		what: "a lock left to its lease overran", folder: "instrument/internal/lock", in: "State.settleOverrun",
		good: "ran > end && (s.isKept() || t.has().bodies > 0 || t.renewed || t.has().renewing > 0)", bad: "ran > end",
	},
	{
		what: "a lock left to its lease stays open for ever", folder: "instrument/internal/lock", in: "State.settle",
		good: "s.endsWithLease(t, now)", bad: "false",
	},
	{
		what: "a late renewal finds its term closed", folder: "instrument/internal/lock", in: "State.endsWithLease",
		good: "return now >= end.Add(end.Sub(t.sent))", bad: "return true",
	},
	{
		what: "work after loss counts from the notice, not from the lease end", folder: "instrument/internal/lock", in: "State.Lost",
		good: "runs && how != Gone && how != StoppedAndGone", bad: "false",
	},
	{
		what: "a lock that another has protects until its lease ends", folder: "instrument/internal/lock", in: "State.Lost",
		good: "runs && how != Gone && how != StoppedAndGone", bad: "runs",
	},
	{
		what: "work after loss counts twice", folder: "instrument/internal/lock", in: "State.accrue",
		good: "more.accrued = max(more.accrued, now)", bad: "_ = more",
	},
	{
		what: "each scrape counts the overrun again", folder: "instrument/internal/lock", in: "State.overrun",
		good: "t.overran = true", bad: "",
	},
	{
		what: "a job beyond its lease was released in time", folder: "instrument/internal/lock", in: "State.Released",
		good: "cause = catalog.Expired", bad: "cause = catalog.Released",
	},
	{
		what: "a release that failed is released", folder: "instrument/internal/lock", in: "State.Released",
		good: "cause = catalog.ReleaseFailed", bad: "cause = catalog.Released",
	},
	{
		what: "a second unlock counts again", folder: "instrument/internal/lock", in: "State.Released",
		good: "t.returned = result != catalog.ReleaseError", bad: "t.returned = false",
	},
	{
		what: "a lost renewal does not end the term", folder: "instrument/internal/lock", in: "State.Renewed",
		good: "s.close(t, r.Now, catalog.Lost, false)", bad: "",
	},
	{
		what: "renewals count after the end", folder: "instrument/internal/lock", in: "State.Renewed",
		good: "(t.ended || t.Stopped() != 0) && !s.revive(t, r)", bad: "false",
	},
	{
		what: "a win of one slot ends another's", folder: "instrument/internal/lock", in: "State.supersede",
		good: "1 - max(s.Params.MaxLeaders, 1)", bad: "0",
	},
	{
		what: "tokens of slots are compared", folder: "instrument/internal/lock", in: "State.fence",
		good: "s.fenced && token < s.token && s.Params.MaxLeaders <= 1", bad: "s.fenced && token < s.token",
	},
	{
		what: "jitter of a measured length shows", folder: "instrument/internal/lock", in: "State.learn",
		good: "s.granted = length.Round(time.Millisecond)", bad: "s.granted = length",
	},
	{
		what: "a declared length is believed ahead of the granted one", folder: "instrument/internal/lock", in: "State.length",
		good: "s.granted > 0", bad: "s.granted > 0 && s.Params.Lease == 0",
	},
	{
		what: "jitter of a look is a renewal", folder: "instrument/internal/lock", in: "State.slackOf",
		good: "return o.Now.Sub(o.Asked) + resolution", bad: "return 0",
	},
	{
		what: "a shorter end that was seen is ignored", folder: "instrument/internal/lock", in: "State.Steady",
		good: "end.Sub(o.End) > seen.slack", bad: "false",
	},
	{
		what: "headroom of several terms is the latest", folder: "instrument/internal/lock", in: "State.addTerms",
		good: "!f.LeftKnown || remaining < f.Left", bad: "!f.LeftKnown || remaining > f.Left",
	},
	{
		what: "the pending age is the youngest attempt's", folder: "instrument/internal/lock", in: "State.addAttempts",
		good: "f.PendingAge = max(f.PendingAge, now.Sub(start))", bad: "f.PendingAge = now.Sub(start)",
	},
	{
		what: "a forgotten lock counts on", folder: "instrument/internal/lock", in: "State.Retire",
		good: "s.retired = true", bad: "",
	},

	// Names and labels.
	{
		what: "no cap on labels", folder: "instrument/internal/registry", in: "Registry.hasRoom",
		good: "return n < r.max", bad: "return n >= 0",
	},
	{
		what: "names folded into the overflow are not counted", folder: "instrument/internal/registry", in: "Registry.place",
		good: "r.overflows++", bad: "",
	},
	{
		what: "the cap is logged for each name", folder: "instrument/internal/registry", in: "Registry.place",
		good: "r.overflows == 1", bad: "true",
	},
	{
		what: "two names of one label pass for one lock", folder: "instrument/internal/registry", in: "Registry.place",
		good: "!b.shared && b.locks != nil && (label.Shared || b.locks.name != name)", bad: "false",
	},
	{
		what: "a collision makes a second label beside the shared one", folder: "instrument/internal/registry", in: "Registry.collide",
		good: "to == nil", bad: "true",
	},
	{
		what: "families made of names are series each", folder: "instrument/internal/registry", in: "words.bound",
		good: "len(*w) >= limit", bad: "false && len(*w) >= limit",
	},
	{
		what: "names under a shared label are kept without end", folder: "instrument/internal/registry", in: "Label.join",
		good: "b.shared && b.count >= b.sweepAt", bad: "false",
	},
	{
		what: "what a folded lock has counted is gone", folder: "instrument/internal/registry", in: "Label.fold",
		good: "f.Totals.Add(&kept.Totals)", bad: "",
	},
	{
		what: "a name stays in the overflow for ever", folder: "instrument/internal/registry", in: "Registry.findLent",
		good: "l != nil && r.hasRoomAgain.Load() && l.LabelText() == redact.Overflow", bad: "false",
	},
	{
		what: "a forgotten handle is found again", folder: "instrument/internal/registry", in: "Registry.Forget",
		good: "r.names.forget(l)", bad: "",
	},
	{
		what: "a shared label has a token", folder: "instrument/internal/registry", in: "Label.read",
		good: "into.Fenced, into.Guarding.Seen = false, false", bad: "into.Guarding.Seen = false",
	},

	// Calls and contexts.
	{
		what: "the backend is told before the contexts end", folder: "instrument", in: "Term.release",
		good: "if first { t.notify(ErrReleased) }", bad: "",
	},
	{
		what: "a loss does not reach the body's context", folder: "instrument", in: "Term.notify",
		good: "if body != nil { body(why) }", bad: "",
	},
	{
		what: "a loss does not reach the other bodies", folder: "instrument", in: "Term.notify",
		good: "for _, cancel := range others { cancel(why) }", bad: "",
	},
	{
		what: "a body that has returned is kept", folder: "instrument", in: "work.end",
		good: "w.place != nil", bad: "false",
	},
	{
		what: "a renewal that finds the lock lost does not end the body's context", folder: "instrument", in: "Term.renewed",
		good: "t.finish(&lossError{err})", bad: "",
	},
	{
		what: "lease end of a renewal counts from the answer", folder: "instrument", in: "Term.Renew",
		good: "r := lock.Renewal{Result: result, Sent: sent, OnDemand: true}", bad: "r := lock.Renewal{Result: result, Sent: t.e.m.now(), OnDemand: true}",
	},
	{
		what: "a phantom leader is an acquisition", folder: "instrument", in: "Election.lossOf",
		good: "return lost, true", bad: "return lost, false",
	},
	{
		what: "a panic in the elector leaves the attempt pending", folder: "instrument", in: "Election.acquire",
		good: "at.fail(ctx, catalog.Panicked)", bad: "",
	},
	{
		what: "a panic in the body keeps the lock", folder: "instrument", in: "Election.Run",
		good: "e.set.KeepUntilExpiry", bad: "e.set.KeepUntilExpiry || !returned",
	},
	{
		what: "a panic in the body is no failure", folder: "instrument", in: "Election.bodyFailure",
		good: "return catalog.FailedWithPanic, true", bad: "return 0, false",
	},
	{
		what: "a body that obeys cancellation has failed", folder: "instrument", in: "Election.saysStopped",
		good: "return true", bad: "return false",
	},
	{
		what: "the caller's context decides ahead of contention", folder: "instrument", in: "Election.reasonFor",
		good: "done == nil || e.contextError(err) == nil", bad: "done == nil",
	},
	{
		what: "a cancelled caller is a backend error", folder: "instrument", in: "Election.reasonFor",
		good: "return catalog.CanceledAttempt", bad: "return BackendError",
	},
	{
		what: "an undeclared error is a failed backend", folder: "instrument", in: "Election.reasonFor",
		good: "return Unknown", bad: "return BackendError",
	},
	{
		what: "a deadline is a loss", folder: "instrument", in: "Election.gone",
		good: "e.contextError(err) != nil", bad: "false",
	},
	{
		what: "a failed look without a term is dropped", folder: "instrument", in: "Election.ObserveUnknown",
		good: "e.lock.Refused(reason)", bad: "",
	},
	{
		what: "a term that passed unseen is the old one", folder: "instrument", in: "Term.differs",
		good: "ok && known != token", bad: "ok && known > token",
	},
	{
		what: "a slow logger blocks", folder: "instrument", in: "logQueue.put",
		good: "if len(q.waiting) >= maxQueuedLogs { _ }; q.waiting = append(q.waiting, _1)", bad: "q.write(_1)",
	},
	{
		what: "a panicking redactor reaches the caller", folder: "instrument", in: "Middleware.label",
		good: "defer m.contain(_)",
	},
	{
		what: "a panicking Lost reaches the caller", folder: "instrument", in: "Middleware.lostOf",
		good: "defer m.contain(_)",
	},
	{
		what: "a printed term shows its lease", folder: "instrument", in: "Term.Format",
		good: "io.WriteString(f, t.String())", bad: "fmt.Fprint(f, t.lease)",
	},
	{
		what: "headroom is clamped at zero", folder: "instrument/internal/reading", in: "output.lease",
		good: "o.value(catalog.LeaseHeadroom, r.Left.Seconds())", bad: "o.value(catalog.LeaseHeadroom, max(r.Left.Seconds(), 0))",
	},
	{
		what: "histograms are there before their first observation", folder: "instrument/internal/reading", in: "output.histogram",
		good: "d.Bucket(i) != 0", bad: "d.Bucket(i) >= 0",
	},
}
