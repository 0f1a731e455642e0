package alerts

import (
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// NoLeader: a lock that is meant to be held has no holder.
type NoLeader struct {
	// Margin is added to the last known end of a lease or term: until then, that end
	// explains the absence. It covers the failover, its first scrape, clock skew and
	// delays of the backend. Counted from an exact instant, it replaces a for clause,
	// which would count from an evaluation.
	Margin model.Duration `yaml:"margin" help:"time that a failover may take after the last known end of a lease or term, until its first scrape"`
	// DownFor is how long after the last sample of a holder that disappeared its
	// disappearance explains the absence, unless a replica meets backend errors.
	DownFor model.Duration `yaml:"downFor" help:"how long a holder that disappeared is assumed to be alive, unless a replica meets backend errors"`
	// RefusedFor replaces DownFor if the target of the holder is down, and another
	// replica campaigns and is told by the backend that the lock is held.
	RefusedFor model.Duration `yaml:"refusedFor" help:"the same if the holder's target is down, and the backend tells another replica that the lock is held"`
	// Lookback bounds the search for the last lease end: it must be longer than
	// the longest lease.
	Lookback model.Duration `yaml:"lookback" help:"how far back the last end of a lease is searched; must exceed the longest lease"`
	// Interval is the time between evaluations of the warning; 0 uses that of the
	// group.
	Interval model.Duration `yaml:"interval" help:"time between evaluations of the warning, in a group of its own; 0s uses that of the group"`
	// Critical fires if nothing explains the absence.
	Critical Firing `yaml:"critical" help:"Fires when neither the last lease nor a holder whose target is down explains the absence."`
	// Warning fires if a lease, or a holder whose target is down, explains it.
	Warning Firing `yaml:"warning" help:"Fires when one of the two explains the absence."`
}

func (*NoLeader) about() about {
	return about{
		Condition: condition.NoLeader, id: "B",
		fires: "a held lock has no leader, and its last lease does not explain why",
		note:  "A lock that is meant to be held has no holder.",
	}
}

func (k *NoLeader) preset() {
	*k = NoLeader{
		Margin: span(45), DownFor: minutes(2), RefusedFor: minutes(20), Lookback: minutes(120), Interval: slowInterval,
		// The warning is kept until the critical alert takes over from it.
		Critical: firesAfter(critical, 0, 0), Warning: fires(warning, 5, 3),
	}
}

func (k *NoLeader) validate(c check) {
	c.firing("critical", k.Critical)
	c.firing("warning", k.Warning)
	c.distinct("warning", k.Critical, k.Warning)
	c.interval(k.Interval, k.Lookback, k.Warning.Enabled)
	if k.Critical.Enabled || k.Warning.Enabled {
		c.require(k.Margin >= 0, "margin", "%s is negative; use 0s or more", k.Margin)
		c.require(k.DownFor >= c.fresh(), "downFor", "%s may hold no sample where samples are %s apart, so the alert would come and go; use at least %s", k.DownFor, c.slowest(), c.fresh())
		c.require(k.RefusedFor >= k.DownFor, "refusedFor", "%s is shorter than downFor, which is %s; make it at least as long", k.RefusedFor, k.DownFor)
		c.require(k.Lookback >= k.RefusedFor, "lookback", "%s is shorter than refusedFor, which is %s; make it longer", k.Lookback, k.RefusedFor)
	}
}

func (k *NoLeader) rules(b builder) []draft {
	s, same := b.scope, b.scope.SameLock()
	// If the backend keeps reporting the lock as free, nothing explains the absence
	// (B41).
	free := query.Op(query.Over("max_over_time", s.Metric(catalog.BackendHeld), (2*b.slowest()).String()), "==", "0")
	explained := func(e query.Expr) query.Expr { return query.Op(s.Without(e, free), "or", k.witnessed(b)) }
	// What explains the absence does so for every job of the lock (B48).
	claimed := query.Op(s.Led(), "unless "+query.On(s.HolderLabels()), k.repeated(b))
	critical := query.Op(k.known(b), "unless "+same, s.Candidates(query.Op(claimed, "or", explained(query.Op(k.gone(b), "or", k.passing(b))))))
	// What passes within a minute or two need not be asked for: the warning waits
	// for longer.
	warning := query.Op(query.Op(s.HoldInfo(single), "unless "+same, s.Candidates(s.Led())), "and "+same, s.Candidates(explained(k.gone(b))))
	by := func(e query.Expr) query.Expr { return s.By("group", e) }
	summary := "Lock " + b.lock() + " has no leader"
	reason := b.topReason("5m") + b.reportedHeld("2m")
	return []draft{{
		firing: k.Critical, expr: by(critical), summary: summary,
		description: fmt.Sprintf("Lock %s%s has no leader: no replica has taken over within %s of the last known end of a lease or term, and the leader's work is not being done. "+
			"Check that replicas run and campaign, and look up the holder of the lock in the backend.%s", b.lock(), b.where(), k.Margin, reason),
	}, draft{
		firing: k.Warning, expr: by(warning), summary: "Lock " + b.lock() + " has no visible leader",
		description: fmt.Sprintf("Lock %s%s has had no leader among the scraped replicas for %s: the last holder disappeared, and its lease may still be valid or it may still lead. "+
			"Check the scrape target of the last holder, and look up the holder of the lock in the backend.%s", b.lock(), b.where(), k.Warning.For, reason),
	}.every("", k.Interval)}
}

// How soon it fires depends on the state of the last holder, and on what the backend tells
// the other replicas.
func (k *NoLeader) detect(d *detector) {
	margin, down, refused := time.Duration(k.Margin), time.Duration(k.DownFor), time.Duration(k.RefusedFor)
	seen, slowest := time.Duration(k.seen(d.Config)), time.Duration(d.slowest())
	const erring = ", while attempts meet backend errors"
	d.timed(k.Critical, "the end of the term, while its holder is scraped"+erring, margin, max(margin, d.scrape), shorter)
	// The last scraped lease end may lack the renewals since then.
	missed := d.lease
	if renewal := d.lease / 3; renewal > 0 {
		missed = (d.scrape + renewal - 1) / renewal * renewal
	}
	d.timed(k.Critical, "the end of the lease, if the last holder and its target are gone"+erring, margin-missed, max(margin, slowest-d.lease*2/3, d.scrape), shorter)
	d.timed(k.Critical, "the death of the last holder, if its target is down"+erring, max(d.lease*2/3+margin, slowest)-d.scrape, max(d.lease+margin, slowest, d.scrape), shorter)
	d.timed(k.Critical, "the end of the term, while its holder is scraped", max(seen, down-d.scrape), max(seen, down, d.scrape), shorter)
	d.timed(k.Critical, "the death of the last holder, if its target is down", max(down, d.lease*2/3+margin)-d.scrape, max(down, d.lease+margin),
		"whether a leader that is not scraped for longer than "+k.DownFor.String()+" is dead, while no other replica campaigns")
	d.timed(k.Critical, "the same, while the backend tells another replica that the lock is held", refused-d.scrape, refused, shorter)
	d.every(k.Interval, k.Warning, "the death of the last holder, while its lease or its target explains the absence", 0, d.scrape, shorter)
}

// known keeps held locks. A lock around single runs is free most of the time (B7). A
// lock that appeared a moment ago may be won before the next sample (B49). Labels that
// several locks share are excluded only here: the rest is joined to it.
func (k *NoLeader) known(b builder) query.Expr {
	active := b.scope.Metric(catalog.Active)
	return b.scope.Of(b.scope.HoldInfo(single), query.Op(active, "and", query.Offset(active, b.fresh().String())))
}

// seen is how long after a leader has gone the next one is sampled at the latest.
func (k *NoLeader) seen(c Config) model.Duration { return k.Margin + c.slowest() }

// gone keeps locks whose last holder disappeared while it held the lock, if
// something explains the absence of that replica. Other targets do not count (B9,
// B15), nor does a holder that released the lock before it left (B18), nor one
// after which another replica won (B19).
func (k *NoLeader) gone(b builder) query.Expr {
	s, lookback := b.scope, k.Lookback.String()
	onHolder, won, active := query.On(s.HolderLabels()), s.Metric(catalog.LastAcquired), s.Metric(catalog.Active)

	// If a lock has no leader, a replica whose last sample says that it holds the lock
	// is gone. So is a replica that restarted in place: it exports 0, and no term has
	// ended since its restart (B46).
	gone := query.Op(k.held(b, k.Lookback), "or", query.Op(query.Op(active, "==", "0"), "unless "+onHolder, s.Metric(catalog.LastEnded)))
	gone = query.Op(gone, "and "+onHolder, query.Op(k.leased(b), "or", k.refused(b)))
	followed := query.Op(query.Over("last_over_time", won, lookback), "< "+query.On(s.Labels)+" group_left ()", s.By("max", won))
	return query.Op(gone, "unless "+onHolder, followed)
}

// repeated keeps ends of leases that have passed and no longer move: a collector
// repeats what a dead leader pushed (B57). The end still moves if the clock of a live
// leader is slow, and is the same without a new sample after a restart of the server.
func (k *NoLeader) repeated(b builder) query.Expr {
	expiry := b.scope.Metric(catalog.LeaseExpiry)
	return query.Op(query.Op(query.Over("last_over_time", expiry, b.fresh().String()), "==", query.Offset(expiry, k.DownFor.String())), "<", query.Call("time"))
}

// held keeps replicas whose last sample within a window says that they hold.
func (k *NoLeader) held(b builder, within model.Duration) query.Expr {
	return query.Op(query.Over("last_over_time", b.scope.Metric(catalog.Active), within.String()), ">", "0")
}

// passing keeps holders that disappeared, or whose term ended, a moment ago: the
// next leader may not have been sampled yet (B50), and the holders may return.
// Backend errors show that it is not an ordinary handover (B45): it passes sooner.
func (k *NoLeader) passing(b builder) query.Expr {
	s, onHolder, ended, seen := b.scope, "unless "+query.On(b.scope.HolderLabels()), b.scope.Metric(catalog.LastEnded), k.seen(b.Config)
	led := func(within model.Duration) query.Expr {
		return query.Op(query.Over("max_over_time", s.Metric(catalog.Active), within.String()), ">", "0")
	}
	// The exact end of a term counts, unless its clock is wrong (B61): then samples tell
	// that the end is older, or that the replica led later. If the process died or
	// restarted in place, the last sample that led counts (B60).
	ordinary := query.Op(query.Op(led(k.DownFor), onHolder, s.Led()), "or", query.Op(ended, ">", b.ago(seen)))
	erring := query.Op(query.Op(led(b.slowest()), onHolder, query.Op(s.Led(), "or", ended)), "or", query.Op(ended, ">", b.ago(k.Margin)))
	older := query.Op(ended, "==", query.Offset(ended, seen.String()))
	return query.Op(query.Op(s.Without(ordinary, k.failing(b)), "or", erring), "unless", older)
}

// witnessed keeps locks for which the backend names a live holder that is one of
// the candidates: it leads but cannot be scraped (B40). A lock that another process
// holds has no leader (B42).
func (k *NoLeader) witnessed(b builder) query.Expr {
	s := b.scope
	candidates := query.Over("last_over_time", s.Metric(catalog.IdentityInfo), k.Lookback.String())
	holder, _ := catalog.BackendHolderInfo.Label("holder")
	return query.Op(query.Op(s.Metric(catalog.BackendHolderInfo), "==", "1"), "and "+query.On(append(slices.Clone(s.Labels), holder.Name())), candidates)
}

// leased keeps leases that may still be valid: no other replica can win before they
// end (C44).
func (k *NoLeader) leased(b builder) query.Expr {
	return query.Op(k.leaseEnd(b), ">", b.ago(k.Margin))
}

func (k *NoLeader) leaseEnd(b builder) query.Expr {
	return query.Over("last_over_time", b.scope.Metric(catalog.LeaseExpiry), k.Lookback.String())
}

// refused keeps holders of locks for which another replica waits, or is told that
// the lock is held, and no replica meets an error: a free lock would be won. This
// counts for holders that cannot be scraped, which may lead (B44), and for leases
// that were renewed after the last sample, whose known end may be a third of the
// lease and the time between two samples too early (B51).
func (k *NoLeader) refused(b builder) query.Expr {
	s, replica := b.scope, append(b.scope.TargetLabels(), b.scope.Holder)
	down := query.Op(query.By("max", replica, s.Up()), "==", "0")
	unseen := query.Op(k.held(b, k.RefusedFor), "and "+query.On(replica), down)
	renewal := query.Op(s.By("max", s.Metric(catalog.LeaseDuration)), "/", "3")
	renewed := query.Op(k.leaseEnd(b), "> "+query.On(s.Labels)+" group_left ()", query.Op(b.ago(k.Margin+b.fresh()), "-", renewal))

	reason, _ := catalog.NotAcquired.Label("reason")
	contended := s.Metric(catalog.NotAcquired, query.Equal(reason.Name(), catalog.Contended.String()))
	told := query.Op(query.Over("increase", contended, lately), ">", "0")
	campaigns := query.Op(query.Op(s.Metric(catalog.PendingAge), ">", "0"), "or", told)
	return s.Without(s.Of(query.Op(unseen, "or", renewed), campaigns), k.failing(b))
}

// failing keeps replicas whose attempts recently met backend errors.
func (k *NoLeader) failing(b builder) query.Expr {
	reason, _ := catalog.NotAcquired.Label("reason")
	failed := b.scope.Metric(catalog.NotAcquired, query.Equal(reason.Name(), catalog.BackendError.String()))
	return query.Op(query.Over("increase", failed, lately), ">", "0")
}

// lately is the lookback window for the results of attempts.
const lately = "3m"
