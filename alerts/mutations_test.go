package alerts

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/internal/promeval"
	"github.com/leaderscope/leaderscope/internal/query"
)

// mutation is a change for the worse to the rules of one alert, and the
// beginning of the title of a scenario that must notice it.
type mutation struct {
	alert, name string
	change      func(*Rule) bool
	caughtBy    string
}

const perLock = "by (cluster, namespace, job, lock_name)"

func mutations() []mutation {
	return slices.Concat(
		of("NoAcquisition", acquisitionMutations()),
		of("NoLeader", leaderMutations()),
		of("SplitBrain", splitMutations()),
		of("Flapping", flappingMutations()),
		of("BackendErrors", backendMutations()),
		of("RenewalFailures", renewalMutations()),
		of("NearLease", nearLeaseMutations()),
		of("LeaseExceeded", exceededMutations()),
		of("LowHeadroom", headroomMutations()),
		of("WorkAfterLoss", lossMutations()),
		of("JobOverdue", overdueMutations()),
		of("TaskFailing", failingMutations()),
		of("TokenRegressed", regressedMutations()),
		of("MetricsAbsent", absentMutations()),
		of("LockVanished", vanishedMutations()),
		of("ScrapeFailing", scrapeMutations()),
		of("RedactionKeyMismatch", redactionMutations()),
		of("LabelOverflow", overflowMutations()),
	)
}

func of(alert string, all []mutation) []mutation {
	for i := range all {
		all[i].alert = alert
	}
	return all
}

func acquisitionMutations() []mutation {
	wins := " unless sum " + perLock + " (increase(leader_acquired_total[10m])) > 0"
	return []mutation{
		{name: "wins are not looked at", change: drop(wins), caughtBy: "A3"},
		{name: "wins must be counted to be missed", change: swap(wins, " and sum "+perLock+" (increase(leader_acquired_total[10m])) == 0"), caughtBy: "A1"},
		{name: "a leader that holds is not looked at", change: drop(" unless max " + perLock + " (max_over_time(leader_active[10m])) > 0"), caughtBy: "A2"},
		{name: "a leader that holds is looked at in one sample", change: swap("max_over_time(leader_active[10m])", "leader_active"), caughtBy: "E6"},
		{name: "declared intervals are not looked at", change: drop(" unless max " + perLock + " (leader_expected_interval_seconds) > 300"), caughtBy: "A7"},
		{name: "every declared interval is left out", change: swap("(leader_expected_interval_seconds) > 300", "(leader_expected_interval_seconds) > 0"), caughtBy: "A8"},
		{name: "no hold", change: hold(0), caughtBy: "A1"},
		{name: "shared labels are left out", change: swap("leader_attempts_total[10m]", `leader_attempts_total{lock_name!="redacted"}[10m]`), caughtBy: "A9"},
	}
}

func leaderMutations() []mutation {
	return []mutation{
		{name: "run-style locks are judged too", change: drop(" and max " + perLock + ` (leader_elector_info{lock_name!~"|redacted|overflow|.*[*].*",mode="hold"}) == 1`), caughtBy: "B7"},
		{name: "a lock stays held for the lookback", change: swap(`leader_elector_info{lock_name!~"|redacted|overflow|.*[*].*",mode="hold"}`, `max_over_time(leader_elector_info{mode="hold"}[15m])`), caughtBy: "B11"},
		{name: "targets that are down page", change: drop(" unless on (cluster, namespace, job) (up == 0 and max_over_time(up[15m]) == 1)"), caughtBy: "B3"},
		{name: "any target that is down hides the page", change: swap("unless on (cluster, namespace, job) (up", "unless on () (up"), caughtBy: "B9"},
		{name: "dead targets hide the page", change: drop(" and max_over_time(up[15m]) == 1"), caughtBy: "B12"},
		{name: "the warning is not kept", change: keep(0), caughtBy: "B13"},
		{name: "the warning does without a target that is down", change: drop(" and on (cluster, namespace, job) (up == 0 and max_over_time(up[15m]) == 1)"), caughtBy: "B9"},
		{name: "no hold", change: hold(0), caughtBy: "B2"},
		{name: "a longer hold", change: hold(20 * time.Minute), caughtBy: "B1"},
		{name: "a long lease makes no difference", change: swap("< 2 * max "+perLock, "< 0 * max "+perLock), caughtBy: "C44 failover: crash with a lease of 200 s"},
		{name: "every lease is taken for a long one", change: swap("< 2 * max "+perLock, "< 200 * max "+perLock), caughtBy: "C44 failover: a lease of 15 s"},
		{name: "labels that locks share are judged", change: swap(`lock_name!~"|redacted|overflow|.*[*].*"`, `lock_name!=""`), caughtBy: "C21 nobody"},
		{name: "clusters are merged", change: swap(perLock, "by (namespace, job, lock_name)"), caughtBy: "C34"},
		{name: "a missing series counts as no leader", change: swap("== 0 and", ">= 0 and"), caughtBy: "B8"},
	}
}

func splitMutations() []mutation {
	instant := `leader_active{lock_name!~"|redacted|overflow|.*[*].*"}`
	perHolder := "by (cluster, namespace, job, lock_name, instance)"
	return []mutation{
		{name: "one sample is enough", change: swap("min_over_time("+instant+"[1m])", instant), caughtBy: "S5"},
		{name: "a claim counts for the whole window", change: swap("min_over_time", "max_over_time"), caughtBy: "S9"},
		{name: "duplicates of a replica count", change: swap("max "+perHolder+" (min_over_time("+instant+"[1m]))", "min_over_time("+instant+"[1m])"), caughtBy: "S4"},
		{name: "no hold", change: hold(0), caughtBy: "C35 a dead pod stops pushing"},
		{name: "a hold longer than the overlap", change: hold(10 * time.Minute), caughtBy: "S1"},
		{name: "namespaces are merged", change: swap("namespace, ", ""), caughtBy: "S3"},
		{name: "leases that ended are believed", change: swap("unless max", "and max"), caughtBy: "S1"},
		{name: "the lease end is not looked at", change: swap(" - 30", " - 3000"), caughtBy: "C35 a collector repeats what a dead pod pushed"},
		{name: "clocks must agree", change: swap(" - 30", " - 0"), caughtBy: "S13"},
		{name: "group electors are single ones", change: swap("max "+perLock+` (leader_max_leaders{lock_name!~"|redacted|overflow|.*[*].*"})`, "1"), caughtBy: "S10"},
		{name: "permits of one replica count once", change: swap("sum "+perLock, "count "+perLock), caughtBy: "S11"},
		{name: "one leader too many is allowed", change: swap("> max "+perLock, "> 1 + max "+perLock), caughtBy: "S1"},
		{name: "labels that locks share are judged", change: swap(`lock_name!~"|redacted|overflow|.*[*].*"`, `lock_name!=""`), caughtBy: "C21 two tenants"},
		{name: "locks without a name are judged", change: swap(`lock_name!~"|redacted`, `lock_name!~"redacted`), caughtBy: "C21 a View"},
		{name: "no keeping", change: keep(0), caughtBy: "S1"},
	}
}

func flappingMutations() []mutation {
	return []mutation{
		{name: "only increases count", change: swap("label_replace(clamp(max_over_time(", "label_replace(0 * clamp(max_over_time("), caughtBy: "D2"},
		{name: "wins of processes seen first count in full", change: swap(", 1, 1), \"__part__\"", ", 500, 500), \"__part__\""), caughtBy: "D4"},
		{name: "wins of any time count", change: swap("time() - 900", "time() - 900000"), caughtBy: "C28 a rolling restart of three, born at 0"},
		{name: "both parts of a series count", change: swap("max by (cluster, namespace, job, lock_name, instance) (label_replace", "sum by (cluster, namespace, job, lock_name, instance) (label_replace"), caughtBy: "C28 a rolling restart of three, born at 0"},
		{name: "duplicates of a replica count", change: swap("max by (cluster, namespace, job, lock_name, instance) (label_replace", "max by (cluster, namespace, job, lock_name, instance, prometheus_replica) (label_replace"), caughtBy: "D9"},
		{name: "the number of replicas makes no difference", change: swap("[15m:30s]) + 1.5", "[15m:30s]) * 0"), caughtBy: "D8"},
		{name: "one handover a replica is too many", change: swap("+ 1.5, 4.5", "+ -0.5, 0.5"), caughtBy: "C28 a rolling restart of five"},
		{name: "no handovers are tolerated beyond the replicas", change: swap("+ 1.5, 4.5", "+ 1.5, 0.5"), caughtBy: "D9"},
		{name: "ten handovers are tolerated", change: swap("+ 1.5, 4.5", "+ 1.5, 10.5"), caughtBy: "D1"},
		{name: "replicas are counted over the whole window", change: swap("count "+perLock+" (max by (cluster, namespace, job, lock_name, instance) (leader_active{lock_name!~\"|redacted|overflow|.*[*].*\"}))[15m:30s]",
			"count "+perLock+" (max by (cluster, namespace, job, lock_name, instance) (last_over_time(leader_active[15m])))[15m:30s]"), caughtBy: "C29 a crash loop with fresh pod names, born at 1"},
		{name: "run-style locks are judged", change: swap(`mode="hold"`, `mode=~"hold|run"`), caughtBy: "D6"},
		{name: "held now, not in the window", change: swap(`max_over_time(leader_elector_info{lock_name!~"|redacted|overflow|.*[*].*",mode="hold"}[15m])`, `leader_elector_info{mode="hold"}`), caughtBy: "D10"},
		{name: "labels that locks share are judged", change: swap(`lock_name!~"|redacted|overflow|.*[*].*"`, `lock_name!=""`), caughtBy: "D11"},
		{name: "the gauge is watched instead of the counter", change: swap("increase(leader_acquired_total", "changes(leader_active"), caughtBy: "D1"},
	}
}

func backendMutations() []mutation {
	errors := func(window string) string {
		return "sum " + perLock + ` (increase(leader_not_acquired_total{reason="backend_error"}[` + window + `]))`
	}
	return []mutation{
		{name: "contention counts", change: swap(`{reason="backend_error"}`, ""), caughtBy: "E4"},
		{name: "deadlines of callers count", change: swap(`reason="backend_error"`, `reason=~"backend_error|timeout"`), caughtBy: "C12 attempts run into"},
		{name: "canceled attempts count", change: swap(`reason="backend_error"`, `reason=~"backend_error|canceled"`), caughtBy: "C12 ten pods"},
		{name: "one error is enough", change: drop(" and " + errors("10m") + " > 2.5"), caughtBy: "E9"},
		{name: "an outage that is over pages", change: drop(" and " + errors("4m") + " > 0"), caughtBy: "C45 the backend is away"},
		{name: "a fifth is tolerated", change: swap("> 0.1 and", "> 0.3 and"), caughtBy: "E3"},
		{name: "half is critical although a leader holds", change: drop(" unless max " + perLock + " (leader_active) > 0"), caughtBy: "C45 one replica"},
		{name: "anything is critical", change: swap("> 0.5 and", "> 0 and"), caughtBy: "E3"},
		{name: "no hold", change: hold(0), caughtBy: "C45 the backend is away"},
		{name: "replicas are part of the identity", change: swap(perLock, "by (cluster, namespace, job, lock_name, instance)"), caughtBy: "C40 errors go on"},
		{name: "counts instead of shares", change: swap(" / sum "+perLock+" (increase(leader_attempts_total[10m])) > 0.1", " > 0.1"), caughtBy: "E8"},
	}
}

func nearLeaseMutations() []mutation {
	const (
		count, bucket = "leader_lease_usage_ratio_count", `leader_lease_usage_ratio_bucket{le="0.8"}`
		native        = " or histogram_fraction(0.8408964152537146, +Inf, leader_lease_usage_ratio) * histogram_count(leader_lease_usage_ratio) >= 0"
		begun         = " or 0 * leader_lease_overruns_total"
		counted       = "increase((" + count + " - ignoring (le) " + bucket + native + begun + ")[30m:30s])"
	)
	return []mutation{
		{name: "two increases are subtracted", change: swap(counted, "increase("+count+"[30m]) - ignoring (le) increase("+bucket+"[30m])"), caughtBy: "G4"},
		{name: "another bound", change: swap(`le="0.8"`, `le="0.9"`), caughtBy: "G1"},
		{name: "a lower bound", change: swap(`le="0.8"`, `le="0.7"`), caughtBy: "C04 renewals grow slower"},
		{name: "once is not enough", change: swap("> 0.5", "> 1.5"), caughtBy: "G1"},
		{name: "no keeping", change: keep(0), caughtBy: "G1"},
		{name: "raw counts", change: swap(counted, count+" - ignoring (le) "+bucket), caughtBy: "G5"},
		{name: "a first observation is missed", change: drop(begun), caughtBy: "G11"},
		{name: "a first observation of a native histogram is missed", change: drop(begun), caughtBy: "G12"},
		{name: "native histograms are not looked at", change: swap("histogram_fraction(", "0 * histogram_fraction("), caughtBy: "G8"},
		{name: "native buckets are cut in the middle", change: swap("0.8408964152537146", "0.8"), caughtBy: "G9"},
		{name: "both forms must be stored", change: swap(" or histogram_fraction(", " and histogram_fraction("), caughtBy: "G1"},
		{name: "the share of native histograms is a count", change: swap("* histogram_count(leader_lease_usage_ratio)", "* 0"), caughtBy: "G8"},
	}
}

func renewalMutations() []mutation {
	failed := func(window string) string {
		return "sum " + perLock + ` (increase(leader_renewals_total{result=~"error|timeout"}[` + window + `]))`
	}
	return []mutation{
		{name: "deadlines are no failures", change: swap(`"error|timeout"`, `"error"`), caughtBy: "F4"},
		{name: "canceled renewals are failures", change: swap(`"error|timeout"`, `"error|timeout|canceled"`), caughtBy: "C12 every renewal"},
		{name: "renewals that find the lock lost are failures", change: swap(`"error|timeout"`, `"error|timeout|lost"`), caughtBy: "F7"},
		{name: "canceled renewals water the share down", change: swap(`{result!="canceled"}`, ""), caughtBy: "C12 renewals run into"},
		{name: "one failure is enough", change: drop(" and " + failed("10m") + " > 2.5"), caughtBy: "F3"},
		{name: "an outage that is over counts", change: drop(" and " + failed("2m") + " > 0"), caughtBy: "C45 the backend is away for 20 s, and a young"},
		{name: "counts instead of shares", change: swap(" / sum "+perLock+` (increase(leader_renewals_total{result!="canceled"}[10m])) > 0.1`, " > 0.1"), caughtBy: "F5"},
		{name: "half is tolerated", change: swap("> 0.1 and", "> 0.5 and"), caughtBy: "F1"},
		{name: "no hold", change: hold(0), caughtBy: "C45 the backend is away for 20 s, and a young"},
		{name: "no keeping", change: keep(0), caughtBy: "F6"},
		{name: "replicas are part of the identity", change: swap(perLock, "by (cluster, namespace, job, lock_name, instance)"), caughtBy: "C40 renewals go on"},
		{name: "raw counts", change: swap(failed("10m"), `sum `+perLock+` (leader_renewals_total{result=~"error|timeout"})`), caughtBy: "F9"},
	}
}

func exceededMutations() []mutation {
	return []mutation{
		{name: "a first event is missed", change: swap("label_replace(min_over_time(leader_lease_overruns_total[30m])", "label_replace(0 * min_over_time(leader_lease_overruns_total[30m])"), caughtBy: "C27 the first run"},
		{name: "a history that was lost counts", change: swap(" and count_over_time(leader_attempts_total[30m]) > count_over_time(leader_lease_overruns_total[30m])", ""), caughtBy: "G5"},
		{name: "once is not enough", change: swap("> 0.5", "> 1.5"), caughtBy: "G3"},
		{name: "raw counts", change: swap("increase(leader_lease_overruns_total[30m])", "leader_lease_overruns_total"), caughtBy: "B6"},
		{name: "no keeping", change: keep(0), caughtBy: "G3"},
	}
}

func headroomMutations() []mutation {
	const own = `{lock_name!~"|redacted|overflow|.*[*].*"}`
	fresh := " and present_over_time(leader_lease_headroom_seconds" + own + "[45s])"
	return []mutation{
		{name: "no hold", change: hold(0), caughtBy: "C04 one dip that"},
		{name: "a hold of ten minutes", change: hold(10 * time.Minute), caughtBy: "H1"},
		{name: "no keeping", change: keep(0), caughtBy: "H1"},
		{name: "half of the lease is low", change: swap("< 0.2", "< 0.5"), caughtBy: "C04 the headroom of slow renewals"},
		{name: "only a lease that has ended is low", change: swap("< 0.2", "< 0"), caughtBy: "H1"},
		{name: "seconds instead of shares", change: drop(" / leader_lease_duration_seconds" + own), caughtBy: "H1"},
		{name: "replicas are measured by the longest lease", change: swap("leader_lease_duration_seconds"+own, "on (lock_name) group_left () max "+perLock+" (leader_lease_duration_seconds"+own+")"), caughtBy: "H5"},
		{name: "the last words linger", change: drop(fresh), caughtBy: "H6"},
		{name: "labels that locks share are judged", change: swap(own, ""), caughtBy: "H7"},
		{name: "locks without a name are judged", change: swap(`lock_name!~"|redacted`, `lock_name!~"redacted`), caughtBy: "C21 a View"},
		{name: "the most headroom counts", change: swap("min "+perLock, "max "+perLock), caughtBy: "H8"},
	}
}

func lossMutations() []mutation {
	return []mutation{
		{name: "no tolerance", change: swap("> 5", "> 0"), caughtBy: "W1"},
		{name: "replicas are added up", change: swap("max "+perLock, "sum "+perLock), caughtBy: "W2"},
		{name: "a window shorter than a pause", change: swap("[30m]", "[45s]"), caughtBy: "C16"},
		{name: "raw counts", change: swap("increase(leader_work_after_loss_seconds_total[30m])", "leader_work_after_loss_seconds_total"), caughtBy: "W3"},
		{name: "a large tolerance", change: swap("> 5", "> 300"), caughtBy: "C05"},
		{name: "labels that locks share are left out", change: swap("leader_work_after_loss_seconds_total[", `leader_work_after_loss_seconds_total{lock_name!="redacted"}[`), caughtBy: "W4"},
	}
}

func overdueMutations() []mutation {
	const own = `lock_name!~"|redacted|overflow|.*[*].*"`
	acquired := "leader_last_acquired_timestamp_seconds{" + own + "}"
	return []mutation{
		{name: "time for which nobody was there counts", change: swap("or label_replace((", "or 0 * label_replace(("), caughtBy: "J4"},
		{name: "a wait begins when Prometheus does", change: drop(" unless max " + perLock + " (" + acquired + ")"), caughtBy: "C31 Prometheus starts half an hour after the last run of an hourly job that is dead"},
		{name: "only replicas that live are asked", change: swap("max_over_time("+acquired+"[2d])", acquired), caughtBy: "C32 the run of an hour"},
		{name: "the first acquisition counts", change: swap("max_over_time("+acquired+"[2d])", "min_over_time("+acquired+"[2d])"), caughtBy: "J12"},
		{name: "the oldest replica counts", change: swap("time() - max "+perLock, "time() - min "+perLock), caughtBy: "J6"},
		{name: "a job that never ran owes nothing", change: swap("time() + 0 * (max", "1e10 + 0 * (max"), caughtBy: "J3"},
		{name: "a short gap begins the wait anew", change: swap("[30m]", "[1m]"), caughtBy: "J13"},
		{name: "the first declaration counts", change: swap("max_over_time((time()", "min_over_time((time()"), caughtBy: "J4"},
		{name: "declarations are found for an hour", change: swap("[2d:10m]", "[1h:10m]"), caughtBy: "J14"},
		{name: "one interval is too long", change: swap("> 1.5 *", "> 0.9 *"), caughtBy: "J2"},
		{name: "five intervals are not", change: swap("> 1.5 *", "> 5 *"), caughtBy: "J1"},
		{name: "no grace", change: swap("+ 120", "+ 0"), caughtBy: "J9"},
		{name: "held locks are judged", change: drop(" unless max " + perLock + " (leader_elector_info{" + own + `,mode="hold"}) == 1`), caughtBy: "J8"},
		{name: "labels that locks share are judged", change: swap(own, `lock_name!=""`), caughtBy: "J10"},
		{name: "clusters are merged", change: swap("cluster, ", ""), caughtBy: "C34 a job of the same name"},
	}
}

func failingMutations() []mutation {
	return []mutation{
		{name: "panics do not count", change: swap("leader_execution_failures_total[", `leader_execution_failures_total{cause="error"}[`), caughtBy: "T2"},
		{name: "a first failure is missed", change: swap("clamp_max(", "0 * clamp_max("), caughtBy: "T5"},
		{name: "a history that was lost counts", change: swap(">= sum by (cluster, namespace, job, lock_name, instance) (last_over_time(leader_acquired_total[1h]))", "> 0"), caughtBy: "T6"},
		{name: "failures of yesterday count", change: swap("> time() - 3600", "> 0 * time() - 1e9"), caughtBy: "T7"},
		{name: "a process without failures has one", change: swap("clamp_max(", "clamp_min("), caughtBy: "T12"},
		{name: "one failure of many runs counts", change: swap("clamp_min(0.1 *", "clamp_min(0 *"), caughtBy: "T3"},
		{name: "a sixth is tolerated", change: swap("clamp_min(0.1 *", "clamp_min(0.3 *"), caughtBy: "T1"},
		{name: "once is not enough", change: swap(", 0.5)", ", 1.5)"), caughtBy: "T2"},
		{name: "runs must be counted", change: swap(" or 0 * max", " and 0 * max"), caughtBy: "T5"},
		{name: "native histograms are not looked at", change: swap(" or histogram_count(", " and histogram_count("), caughtBy: "T10"},
		{name: "a first run is missed", change: drop(" or 0 * leader_acquired_total"), caughtBy: "T13"},
		{name: "no keeping", change: keep(0), caughtBy: "T9"},
		{name: "raw counts", change: swap("increase(leader_execution_failures_total[1h])", "leader_execution_failures_total"), caughtBy: "T7"},
	}
}

func regressedMutations() []mutation {
	const own = `{lock_name!~"|redacted|overflow|.*[*].*"}`
	return []mutation{
		{name: "the counter is not looked at", change: swap("increase(leader_fencing_token_regressions_total"+own+"[30m])", "0 * increase(leader_fencing_token_regressions_total"+own+"[30m])"), caughtBy: "K9"},
		{name: "a first event is missed", change: swap("(min_over_time(", "(0 * min_over_time("), caughtBy: "C27 the second term"},
		{name: "a history that was lost counts", change: drop(" and count_over_time(leader_attempts_total" + own + "[30m]) > count_over_time(leader_fencing_token_regressions_total" + own + "[30m])"), caughtBy: "K5"},
		{name: "restarts in place forget", change: swap("resets(leader_fencing_token", "0 * resets(leader_fencing_token"), caughtBy: "K3"},
		{name: "tokens that grow count", change: swap("resets(leader_fencing_token", "changes(leader_fencing_token"), caughtBy: "K2"},
		{name: "labels that locks share are judged", change: swap(own, ""), caughtBy: "K4"},
		{name: "once is not enough", change: swap("> 0.5", "> 1.5"), caughtBy: "K1"},
		{name: "no keeping", change: keep(0), caughtBy: "K1"},
	}
}

func absentMutations() []mutation {
	return []mutation{
		{name: "absence of everything alone", change: swap("group by (cluster, namespace, job) (last_over_time(leader_active[1h])) unless group by (cluster, namespace, job) (leader_active) or on () ", ""), caughtBy: "M2"},
		{name: "absence of jobs alone", change: swap(" or on () absent(leader_active)", ""), caughtBy: "M1"},
		{name: "one cause is told twice", change: swap("or on () ", "or "), caughtBy: "M6"},
		{name: "a replica that is gone is missed", change: swap("(cluster, namespace, job)", "(cluster, namespace, job, instance)"), caughtBy: "M4"},
		{name: "no hold", change: hold(0), caughtBy: "M3"},
		{name: "a hold longer than the lookback", change: hold(2 * time.Hour), caughtBy: "M2"},
		{name: "a job is missed for ten minutes", change: swap("[1h]", "[10m]"), caughtBy: "M2"},
	}
}

func vanishedMutations() []mutation {
	const own = `lock_name!~"|redacted|overflow|.*[*].*"`
	led := "last_over_time(max " + perLock + " (leader_active{" + own + "})[1h:30s])"
	return []mutation{
		{name: "locks that nobody led are missed", change: swap(led+" > 0", led+" >= 0"), caughtBy: "V2"},
		{name: "a lock that was led once is missed", change: swap("last_over_time(max", "max_over_time(max"), caughtBy: "V3"},
		{name: "each replica is asked for its last words", change: swap(led, "max "+perLock+" (last_over_time(leader_active{"+own+"}[1h]))"), caughtBy: "V6"},
		{name: "declared jobs are not missed", change: swap("or group", "and group"), caughtBy: "V5"},
		{name: "a job that is gone is missed lock by lock", change: drop(" and on (cluster, namespace, job) group by (cluster, namespace, job) (leader_active)"), caughtBy: "M2"},
		{name: "labels that locks share are judged", change: swap(own, `lock_name!=""`), caughtBy: "V8"},
		{name: "no hold", change: hold(0), caughtBy: "V7"},
		{name: "a lock is missed for ten minutes", change: swap("[1h", "[10m"), caughtBy: "V1"},
	}
}

func scrapeMutations() []mutation {
	exported := " and group by (cluster, namespace, job, instance) (last_over_time(leader_active[1h]))"
	return []mutation{
		{name: "targets without locks count", change: drop(exported), caughtBy: "U3"},
		{name: "only targets that export now count", change: swap("last_over_time(leader_active[1h])", "leader_active"), caughtBy: "U1"},
		{name: "any replica of the job exported something", change: swap(exported, " and on (cluster, namespace, job) group by (cluster, namespace, job) (last_over_time(leader_active[1h]))"), caughtBy: "U3"},
		{name: "replicas are part of the identity", change: swap("sum by (cluster, namespace, job)", "sum by (cluster, namespace, job, instance)"), caughtBy: "C40 pods are down"},
		{name: "targets that are up count", change: swap("== bool 0", ">= bool 0"), caughtBy: "B9"},
		{name: "no hold", change: hold(0), caughtBy: "U2"},
		{name: "a hold longer than the lookback", change: hold(2 * time.Hour), caughtBy: "U1"},
		{name: "no keeping", change: keep(0), caughtBy: "B3"},
	}
}

func redactionMutations() []mutation {
	const perJob, policy = "by (cluster, namespace, job)", "by (cluster, namespace, job, policy, key_id, key_check)"
	own := "max " + perJob + " (count by (cluster, namespace, job, instance) (group by (cluster, namespace, job, instance, policy, key_id, key_check) (leader_redaction_info)))"
	return []mutation{
		{name: "every replica counts", change: swap("group "+policy+" (leader_redaction_info)", "leader_redaction_info"), caughtBy: "R1"},
		{name: "keys are known by their id", change: swap(", key_check", ""), caughtBy: "R2"},
		{name: "labels are known by their key", change: swap(" key_id,", ""), caughtBy: "R6"},
		{name: "policys are not compared", change: swap(" policy,", ""), caughtBy: "R7"},
		{name: "jobs are merged", change: swap(", job", ""), caughtBy: "R3"},
		{name: "a process labels in one way", change: swap("> "+own, "> 1"), caughtBy: "R5"},
		{name: "two ways of a process are enough for all", change: swap("> "+own, "> 2"), caughtBy: "R2"},
		{name: "no hold", change: hold(0), caughtBy: "R4"},
		{name: "a hold of an hour", change: hold(time.Hour), caughtBy: "R2"},
		{name: "no keeping", change: keep(0), caughtBy: "R8"},
	}
}

func overflowMutations() []mutation {
	grown := "max by (cluster, namespace, job, instance) (increase(leader_redaction_overflows_total[1h])) > 0.5 or "
	return []mutation{
		{name: "names that come and go are missed", change: drop(grown), caughtBy: "O2"},
		{name: "names folded before the first sample are missed", change: swap("or max", "and max"), caughtBy: "O1"},
		{name: "names folded yesterday count", change: swap("increase(leader_redaction_overflows_total[1h])", "leader_redaction_overflows_total"), caughtBy: "O4"},
		{name: "every shared label counts", change: swap(`lock_name="overflow"`, `lock_name=~"overflow|redacted"`), caughtBy: "O5"},
		{name: "no hold", change: hold(0), caughtBy: "O6"},
		{name: "replicas are part of the identity", change: swap("count by (cluster, namespace, job)", "count by (cluster, namespace, job, instance)"), caughtBy: "C53"},
	}
}

func swap(from, to string) func(*Rule) bool {
	return func(r *Rule) bool {
		changed := strings.ReplaceAll(r.Expr, from, to)
		if changed == r.Expr {
			return false
		}
		r.Expr = changed
		return true
	}
}

func drop(clause string) func(*Rule) bool { return swap(clause, "") }

func hold(d time.Duration) func(*Rule) bool {
	return func(r *Rule) bool { r.For = model.Duration(d); return true }
}

func keep(d time.Duration) func(*Rule) bool {
	return func(r *Rule) bool { r.KeepFiringFor = model.Duration(d); return true }
}

func TestEveryMutationOfTheRulesIsNoticed(t *testing.T) {
	for _, m := range mutations() {
		t.Run(m.alert+": "+m.name, func(t *testing.T) {
			t.Parallel()
			rules, changed := mutated(t, m)
			if !changed {
				t.Fatal("the mutation changes no rule: write it anew")
			}
			s := scenarioTitled(t, m.caughtBy)
			fired, err := s.firings(t.Context(), rules, seriesOf(t, s, Default()), promeval.V3)
			if err != nil {
				t.Fatal(err)
			}
			if describe(fired) == s.want {
				t.Errorf("scenario %s does not notice it", s.title())
			}
		})
	}
}

// mutated returns the default rules on one line each, those of one alert
// changed where the mutation applies.
func mutated(t *testing.T, m mutation) (rules []Rule, changed bool) {
	t.Helper()
	rules, err := Rules(Default())
	if err != nil {
		t.Fatal(err)
	}
	for i := range rules {
		parsed, err := query.Parse(query.Expr(rules[i].Expr))
		if err != nil {
			t.Fatal(err)
		}
		rules[i].Expr = parsed.String()
		if rules[i].Name == Prefix+m.alert && m.change(&rules[i]) {
			changed = true
			if _, err := query.Parse(query.Expr(rules[i].Expr)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return rules, changed
}

func scenarioTitled(t *testing.T, beginning string) scenario {
	t.Helper()
	for _, s := range scenarios() {
		if s.id == beginning || strings.HasPrefix(s.title(), beginning) {
			return s
		}
	}
	t.Fatalf("no scenario %s", beginning)
	return scenario{}
}
