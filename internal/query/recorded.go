package query

import (
	"slices"
	"strconv"
	"strings"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Names of recorded series are level:metric:operations, as the Prometheus guide
// recommends. The level lock has the labels that identify a lock; holder also has the
// label that identifies a replica; job and replica are the same without lock_name.
// Further labels follow the level.
var (
	// RecordedActive is 1 where a lock is held. Its label mode is hold where
	// any replica campaigns for the lock, else run.
	RecordedActive = recordedName("lock_mode", catalog.Active, "max")
	// RecordedLeading exists for the replicas that lead.
	RecordedLeading = recordedName("holder", catalog.Active, "max")
	// RecordedClaims is the number of leases held.
	RecordedClaims = recordedName("lock", catalog.Active, "sum")
	// RecordedAllowed is the number of leaders that the elector allows.
	RecordedAllowed = recordedName("lock", catalog.MaxLeaders, "max")
	// RecordedLedElsewhere exists for the locks that another job leads.
	RecordedLedElsewhere = recordedName("lock", catalog.Active, "max_other_job")
	// RecordedHeadroom is the least headroom of a lock.
	RecordedHeadroom = recordedName("lock", catalog.LeaseHeadroom, "min")
	// RecordedLease is the length of the lease.
	RecordedLease = recordedName("lock", catalog.LeaseDuration, "max")
	// RecordedLeaseLeft is the least headroom as a share of the lease.
	RecordedLeaseLeft = "lock:leader_lease_left:ratio"
	// RecordedRunLease is the lease of locks that are taken for single runs.
	RecordedRunLease = recordedName("lock", catalog.LeaseDuration, "max_run")
	// RecordedCrowded is the number of leases held, for locks with too many of them
	// only.
	RecordedCrowded = recordedName("lock", catalog.Active, "sum_above_max")
	// RecordedFamily is 1 for each family that is named for a lock.
	RecordedFamily = recordedName(level("lock", FamilyLabel), catalog.ElectorInfo, "max")
	// RecordedUnprotected exists for the replicas that work without the lock.
	RecordedUnprotected = recordedName("holder", catalog.Running, "max_unprotected")
	// RecordedWaiting is the age of the oldest attempt in flight, but for
	// standbys that wait for a leader.
	RecordedWaiting = recordedName("lock", catalog.PendingAge, "max")
	// RecordedNearLease counts, since the replica started, the uses of a lease
	// that took most of it: a counter, to be read through increase.
	RecordedNearLease = "holder:" + catalog.LeaseUsageRatio.Name() + "_near:count"
	// RecordedState is the worst state of a lock that replicas export, as a number.
	RecordedState = "lock:leader_state:max"
)

func (f Facts) recordedErrors() string {
	return "lock:" + backendErrors() + ":increase" + f.ErrorWindow
}

func (f Facts) recordedErrorShare() string {
	return "lock:" + backendErrors() + "_per_attempts:ratio_increase" + f.ErrorWindow
}

func (f Facts) recordedNearLease(window string) string {
	return "lock:" + catalog.LeaseUsageRatio.Name() + "_near:increase" + window
}

func (f Facts) recordedOverruns(window string) string {
	return recordedName("lock", catalog.LeaseOverruns, "increase"+window)
}

func (f Facts) recordedFailures() string {
	return recordedName(level("lock", causeLabel()), catalog.ExecutionFailures, "increase"+f.RateWindow)
}

func (f Facts) recordedRegressions() string {
	return recordedName("lock", catalog.FencingTokenRegressions, "increase"+f.RateWindow)
}

// RecordedWorkAfterLoss is the name of the recent work after loss of replicas. It does
// not exist for replicas that neither did any nor lead.
func (f Facts) RecordedWorkAfterLoss() string {
	return recordedName("holder", catalog.WorkAfterLoss, "increase"+f.RateWindow)
}

// RecordedWon is the name of the terms gained lately, by mode as
// [RecordedActive].
func (f Facts) RecordedWon() string {
	return recordedName("lock_mode", catalog.Acquired, "increase"+f.RateWindow)
}

func (f Facts) recordedAverage() string {
	return recordedName("lock", catalog.ExecutionDuration, "avg_rate"+f.RateWindow)
}

func (f Facts) recordedQuantile(phi float64) string {
	return recordedName("lock", catalog.ExecutionDuration, "p"+strconv.Itoa(int(100*phi))+"_rate"+f.RateWindow)
}

func backendErrors() string {
	return strings.TrimSuffix(catalog.NotAcquired.Name(), "_total") + "_" + catalog.BackendError.String()
}

// RecordedJobRate is the name of the rate of a counter over all locks of a
// job, split by a label unless that is empty.
func (f Facts) RecordedJobRate(m *catalog.Metric, label string) string {
	return recordedName(level("job", label), m, "rate"+f.RateWindow)
}

// RecordedJobBuckets is the name of the increase of the lease usage's buckets
// over all locks of a job, RecordedJobUsage that of its native histogram.
func (f Facts) RecordedJobBuckets() string {
	return "job_le:" + catalog.LeaseUsageRatio.Bucket() + ":increase" + f.RateWindow
}

// RecordedJobUsage is explained at [Facts.RecordedJobBuckets].
func (f Facts) RecordedJobUsage() string {
	return recordedName("job", catalog.LeaseUsageRatio, "increase"+f.RateWindow)
}

// RecordedReplicaResets is the name of how often counters of a replica
// restarted lately: it is there for each replica, and names no lock.
func (f Facts) RecordedReplicaResets() string {
	return recordedName("replica", catalog.Attempts, "resets"+f.RateWindow)
}

// recordedName leaves the ending of counters out, which rates are not.
func recordedName(level string, m *catalog.Metric, operations string) string {
	return level + ":" + strings.TrimSuffix(m.Name(), "_total") + ":" + operations
}

func level(name, label string) string {
	if label == "" {
		return name
	}
	return name + "_" + label
}

// Recording is a series that a rule writes down.
type Recording struct {
	Name string
	// Labels are all that the series have.
	Labels []string
	// Expr reads the replicas' own series, or recordings that come before it.
	Expr Expr
}

// Recordings returns the recorded series that facts read. No series depends on a later
// one. If two windows are equally long, their common part is recorded once.
func (f Facts) Recordings() []Recording {
	f.Recorded = false
	all := slices.Concat(f.lockRecordings(), f.judgements(), f.jobRecordings())
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(r Recording) bool {
		twice := seen[r.Name]
		seen[r.Name] = true
		return twice
	})
}

// lockRecordings read the series of the replicas.
func (f Facts) lockRecordings() []Recording {
	lock := func(name string, e Expr, more ...string) Recording {
		return Recording{Name: name, Labels: append(slices.Clone(f.Labels), more...), Expr: e}
	}
	window := f.RateWindow
	failures := append(slices.Clone(f.Labels), causeLabel())
	work := f.WorkAfterLoss(window)
	all := []Recording{
		lock(RecordedActive, f.byMode(f.Active()), modeLabel()),
		lock(RecordedLeading, f.Leading(), f.Holder),
		lock(RecordedFamily, f.Families(), FamilyLabel),
		lock(RecordedUnprotected, f.Unprotected(), f.Holder),
		lock(RecordedClaims, f.Claims()),
		lock(RecordedAllowed, f.Allowed()),
		lock(RecordedHeadroom, f.Headroom()),
		lock(RecordedLease, f.LeaseLength()),
		lock(RecordedLeaseLeft, f.LeaseLeft()),
		lock(RecordedRunLease, f.RunLease()),
		lock(RecordedCrowded, f.Crowded()),
		lock(RecordedWaiting, f.Waiting()),
		lock(RecordedNearLease, f.ByHolder("max", f.nearLeaseCount()), f.Holder),
		lock(f.recordedOverruns(f.LeaseWindow), f.OverrunsLately()),
		lock(f.recordedOverruns(window), f.Overruns(window)),
		lock(f.recordedFailures(), By("sum", failures, Over("increase", f.Metric(catalog.ExecutionFailures), window)), causeLabel()),
		lock(f.recordedRegressions(), f.Increased(catalog.FencingTokenRegressions, window)),
		lock(f.RecordedWorkAfterLoss(), Op(Op(work, ">", Number(0)), "or", Op(work, "and", f.Leading())), f.Holder),
		lock(f.recordedErrors(), f.Errors()),
		lock(f.recordedErrorShare(), f.ErrorShare()),
		lock(f.RecordedWon(), f.byMode(f.Increased(catalog.Acquired, window)), modeLabel()),
		lock(f.recordedAverage(), f.RunAverage(window)),
	}
	if f.severalJobs() {
		all = append(all, lock(RecordedLedElsewhere, f.LedElsewhere()))
	}
	if f.Histograms != ClassicHistograms {
		all = append(all, lock(f.recordedQuantile(0.99), f.RunQuantile(0.99, window)))
	}
	return all
}

// judgements depend on the recordings of single facts.
func (f Facts) judgements() []Recording {
	near := func(window string) Recording {
		return Recording{Name: f.recordedNearLease(window), Labels: f.Labels, Expr: f.By("sum", Over("increase", f.Recording(RecordedNearLease), window))}
	}
	f.Recorded = true
	return []Recording{
		near(f.LeaseWindow), near(f.RateWindow),
		{Name: RecordedState, Labels: f.Labels, Expr: f.By("max", f.now())},
	}
}

// jobRecordings are for panels that aggregate all locks.
func (f Facts) jobRecordings() []Recording {
	job := f.TargetLabels()
	var all []Recording
	for _, r := range []struct {
		metric *catalog.Metric
		label  string
	}{
		{catalog.Attempts, ""}, {catalog.Acquired, ""}, {catalog.NotAcquired, "reason"}, {catalog.TermsEnded, "cause"}, {catalog.Renewals, "result"},
	} {
		labels := job
		if r.label != "" {
			labels = append(slices.Clone(job), r.label)
		}
		all = append(all, Recording{
			Name: f.RecordedJobRate(r.metric, r.label), Labels: labels,
			Expr: By("sum", labels, Over("rate", f.Metric(r.metric), f.RateWindow)),
		})
	}
	replica, buckets := append(slices.Clone(job), f.Holder), append(slices.Clone(job), "le")
	return append(all,
		Recording{Name: f.RecordedReplicaResets(), Labels: replica, Expr: By("sum", replica, Over("resets", f.Metric(catalog.Attempts), f.RateWindow))},
		Recording{Name: f.RecordedJobBuckets(), Labels: buckets, Expr: By("sum", buckets, Over("increase", f.Bucket(catalog.LeaseUsageRatio), f.RateWindow))},
		Recording{Name: f.RecordedJobUsage(), Labels: job, Expr: By("sum", job, Over("increase", f.Metric(catalog.LeaseUsageRatio), f.RateWindow))},
	)
}

// byMode says of each lock how it is used: without that, every panel
// would have to ask the replicas.
func (f Facts) byMode(e Expr) Expr {
	tagged := func(e Expr, m catalog.Mode) Expr {
		return Call("label_replace", e, Text(modeLabel()), Text(m.String()), Text(""), Text(""))
	}
	return Op(tagged(f.Held(e), catalog.ModeHold), "or", tagged(f.Run(e), catalog.ModeRun))
}

// recorded reads a recorded series of locks; servers that both record it
// agree, or the greater value counts.
func (f Facts) recorded(name string, matchers ...Matcher) Expr {
	return f.By("max", f.Recording(name, matchers...))
}

// Recording selects a recorded series of locks or of holders.
func (s Scope) Recording(name string, matchers ...Matcher) Expr {
	return Selector(name, append(slices.Clone(s.Matchers), matchers...)...)
}
