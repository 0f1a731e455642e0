package alerts

import (
	"fmt"
	"github.com/leaderscope/leaderscope/internal/scenario"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/promeval"
	"github.com/leaderscope/leaderscope/internal/query"
)

// texts are what alerts say in a scenario: the whole summary and description
// of each, so that values, windows and causes in them are checked.
var texts = map[string][]string{
	"A4": {
		`NoAcquisition/warning [redis] No replica can acquire lock x: About 11 attempts to acquire lock x of job a in the last 10m have all failed, and no replica held the lock: its work is not being done. Check the backend, and look up the holder of the lock there. The lock belongs to family orders.`,
	},
	"B16 the node of the leader dies with a lease": {
		`NoLeader/critical [etcd] Lock x has no leader: Lock x of job a has no leader: no replica has taken over within 45s of the last known end of a lease or term, and the leader's work is not being done. Check that replicas run and campaign, and look up the holder of the lock in the backend. Most failed attempts of the last 5m ended with reason timeout. The backend has not reported the lock as held in the last 2m. The lock belongs to family orders.`,
		`ScrapeFailing/warning [] Replicas of job a cannot be scraped: 1 of the replicas of job a that exported leader election metrics could not be scraped for more than 5m: one of them may lead. Check that they run, and that Prometheus can reach them. Targets that are down: i1.`,
	},
	"B17 a leader with a lease of an hour crashes, and its": {
		`NoLeader/critical [etcd] Lock x has no leader: Lock x of job a has no leader: no replica has taken over within 45s of the last known end of a lease or term, and the leader's work is not being done. Check that replicas run and campaign, and look up the holder of the lock in the backend. The backend has not reported the lock as held in the last 2m. The lock belongs to family orders.`,
		`NoLeader/warning [etcd] Lock x has no visible leader: Lock x of job a has had no leader among the scraped replicas for 5m: the last holder disappeared, and its lease may still be valid or it may still lead. Check the scrape target of the last holder, and look up the holder of the lock in the backend. The backend has not reported the lock as held in the last 2m. The lock belongs to family orders.`,
	},
	"S11": {
		`SplitBrain/critical [] Lock x has 4 leaders at once: Lock x of job a has had 4 leaders at once for 30s or longer, more than its elector allows: protected work may be done twice. Look up the holder of the lock in the backend, and stop every replica that claims the lock and is not that holder. Claimed by: i1 i2.`,
	},
	"Q1": {
		`Overlap/warning [etcd] Two terms of lock x overlapped: Lock x of job a was held by two replicas at once for about 20s within the last 6m: protected work may have been done twice. Compare the logs and results of both replicas for that time. Replicas whose terms ended recently: i1. The lock belongs to family orders.`,
	},
	"D1": {
		`Flapping/warning [etcd] Leadership of lock x changes hands too often: Lock x of job a was acquired about 5 times in the last 15m, more often than replicas that left or restarted explain: each handover is a gap in the leader's work. Find out why replicas lose the lock: slow renewals, CPU throttling or backend errors. The lock belongs to family orders.`,
	},
	"D14": {
		`Flapping/warningslow [etcd] Leadership of lock x changes hands too often: Lock x of job a was acquired about 19 times in the last 6h, more often than replicas that left or restarted explain: each handover is a gap in the leader's work. Find out why replicas lose the lock: slow renewals, CPU throttling or backend errors. The lock belongs to family orders.`,
	},
	"E11": {
		`BackendErrors/critical [etcd] Attempts to acquire lock x meet backend errors: 91.67% of the attempts to acquire lock x of job a met a backend error in the last 3m, and no replica leads. Check the backend; the logs of the replicas have the text of the error. Most affected replicas: i0 s0 s1 s2. The lock belongs to family orders.`,
		`BackendErrors/warning [etcd] Attempts to acquire lock x meet backend errors: 96.8% of the attempts to acquire lock x of job a met a backend error in the last 10m. Check the backend; the logs of the replicas have the text of the error. Most affected replicas: i0 s0 s1 s2. The lock belongs to family orders.`,
		`NoLeader/critical [etcd] Lock x has no leader: Lock x of job a has no leader: no replica has taken over within 45s of the last known end of a lease or term, and the leader's work is not being done. Check that replicas run and campaign, and look up the holder of the lock in the backend. Most failed attempts of the last 5m ended with reason backend_error. The backend has not reported the lock as held in the last 2m. The lock belongs to family orders.`,
	},
	"F1": {
		`RenewalFailures/warning [etcd] Renewals of lock x fail: 33.33% of the renewals of lock x of job a failed in the last 10m, and renewals still fail: the lock is lost if its lease expires before a renewal succeeds. Check the backend and the connections to it. Most affected replicas: i1. The lock belongs to family orders.`,
	},
	"G3": {
		`LeaseExceeded/critical [redis] Lock x was held past the end of its lease: Lock x of job a was held past the end of its lease in the last 30m, in about 1 of its terms: another replica could take the lock while the work continued. Check for work that was done twice, and find out why the run or its renewals were slow. Replicas: i1. The lock belongs to family orders.`,
		`NearLease/warning [redis] Lock x comes close to the end of its lease: Lock x of job a came close to the end of its lease in the last 30m: about 1 of its runs or renewals used more than 80 % of the lease. Renew earlier, lengthen the lease or shorten the run: if they get slower, the lease expires while the work continues. The lock belongs to family orders.`,
	},
	"H1": {
		`LowHeadroom/warning [redis] The lease of lock x is about to expire: The lease of lock x of job a has had less than 20 % of its time left for more than 1m30s, now 10% (negative: expired). Find out why the replica does not renew the lease, or why its run takes so long: when the lease expires, another replica can take the lock while the work continues. Replicas: i1. The lock belongs to family orders.`,
	},
	"C16": {
		`WorkAfterLoss/critical [etcd] Work continued after lock x was lost: Work under lock x of job a continued for 40s in the last 30m after the replica had lost the lock: another replica may have done the same work at the same time. Check for work that was done twice, and make the work stop when its context ends. Replicas: i1. The lock belongs to family orders.`,
	},
	"J15": {
		`JobOverdue/warning [] The job behind lock x is overdue: Lock x of job a has not been acquired for 1h 32m 2s or longer, more than 1.5 times its declared interval: its job has not run in time. Check that the scheduler of the job runs, and why attempts fail.`,
	},
	"T1": {
		`TaskFailing/warning [redis] The work under lock x fails: About 1 of the runs under lock x of job a in the last 1h returned an error or panicked: locking worked, but the job failed or was only partly done. See the logs of the replicas for the error. Most affected replicas: i1. The lock belongs to family orders.`,
	},
	"K8": {
		`TokenRegressed/critical [redis] The fencing token of lock x went back: The fencing token of lock x of job a was lower than an earlier one in about 1 of the terms of the last 30m: a store that checks tokens refuses the new leader, or has accepted an old one. Check whether the backend was restored, emptied or replaced. Replicas that export a token: i1 i2. The lock belongs to family orders.`,
	},
	"Z1": {
		`StaleWrite/warning [] A store refused late writes under lock x: A store of job a refused about 1 of the writes under lock x in the last 30m, because it had already seen a higher fencing token: a replica kept writing after it lost the lock. Find that replica in the logs of the store, and check its actions that carry no token. Reported by: s1.`,
	},
	"N1": {
		`NoStandby/warning [] Lock x has no standby: Lock x of job a has no standby: only 1 of its replicas can hold it, and more could within the last 6h. Start the missing replicas, or check why they do not campaign: if the leader fails, no replica takes over.`,
	},
	"P1": {
		`AttemptStuck/warning [redis] An attempt to acquire lock x is stuck: An attempt of job a to acquire lock x has been waiting for 10m 30s, longer than the runs and waits of the last 6h explain. Check whether the run that holds the lock hangs, or whether the backend still has the key of a dead process. The lock is held by: i1. The lock belongs to family orders.`,
	},
	"X1": {
		`Vacant/critical [kubernetes] No process holds lock ns/app: The backend kubernetes has named no live holder of lock ns/app for 1m: the leader's work is not being done. Check that candidates run and can reach the backend. Holders within the last 6h: h1. Reported by: o1.`,
	},
	"I4": {
		`Impostor/critical [etcd] A process leads lock x, but the backend names another holder: Lock x of job a is led by 1 of its processes that the backend does not name as its holder: two processes may do the same work. Stop each process that leads and that the backend does not name. Leading: i1 i2. The backend names: h2. The lock belongs to family orders.`,
		`SplitBrain/critical [etcd] Lock x has 2 leaders at once: Lock x of job a has had 2 leaders at once for 30s or longer, more than its elector allows: protected work may be done twice. Look up the holder of the lock in the backend, and stop every replica that claims the lock and is not that holder. Claimed by: i1 i2. The lock belongs to family orders.`,
	},
	"Y1": {
		`ObserverBlind/warning [kubernetes] The state of the locks on backend kubernetes is unknown: The state of the locks on backend kubernetes has been unknown for 5m: no process of job observer in namespace mon can query the backend, or no such process is scraped. Check that the observer runs, is scraped and can reach the backend; until then, a lock there without a leader goes unnoticed. Locks observed there within the last 1h: 2.`,
	},
	"M9": {
		`MetricsAbsent/critical [] No leader election metrics of job a, which held a lock: No replica of job a has exported leader_active for more than 6m, and one of them held a lock when it was last scraped. Check that the replicas run and are scraped: if they are down, the leader's work is not being done.`,
		`MetricsAbsent/warning [] No leader election metrics of job a: No replica of job a has exported leader_active for more than 10m. Check that the replicas run and are scraped: without their metrics, most other alerts about their locks cannot fire.`,
	},
	"V1": {
		`LockVanished/warning [] Lock x stopped exporting metrics: Lock x of job a has exported no metrics for more than 10m, although its job still exports metrics: the lock was held when it was last scraped, or has a declared interval. Check whether a release or a failed start removed the lock; if it was retired on purpose, the alert clears within 1h.`,
	},
	"U4": {
		`ScrapeFailing/warning [] Replicas of job a cannot be scraped: 1 of the replicas of job a that exported leader election metrics could not be scraped for more than 5m: one of them may lead. Check that they run, and that Prometheus can reach them. Targets that are down: i1.`,
	},
	"R2": {
		`RedactionKeyMismatch/warning [] Replicas of job a use different redaction policies or keys: Replicas of job a have used 2 different redaction policies or keys for more than 15m: one lock has several labels, so no alert detects a split brain between these replicas. Give all replicas the same policy, key and key id. In use (replicas: policy, key_id, key_check): (2: hash k1 1a2b3c4d) (1: hash k1 5e6f7a8b).`,
	},
	"O1": {
		`LabelOverflow/warning [] Locks of job a share the label overflow: Locks of job a share the label overflow on 1 of the replicas, because there are more locks than the limit on labels allows: per-lock alerts do not cover them. Raise the limit with WithMaxLabels, or group the locks into families. Lock names that one replica folded into it: 44.`,
	},
}

func TestTextsSayWhatHappened(t *testing.T) {
	seen := map[string]bool{}
	for title, want := range texts {
		s := scenarioTitled(t, title)
		var got []string
		for _, f := range fire(t, s) {
			name := strings.TrimPrefix(f.Labels.Get(labels.AlertName), Prefix) + "/" + f.Labels.Get("severity") + f.Labels.Get(variantLabel)
			seen[name] = true
			got = append(got, fmt.Sprintf("%s [%s] %s: %s", name, f.Labels.Get(backendLabel), f.Annotations["summary"], strings.TrimSuffix(f.Annotations["description"], lookUpText)))
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: want -, got +\n%s", s.Title(), diff)
		}
	}
	for _, r := range rulesOf(t, Default()) {
		if name := strings.TrimPrefix(r.Name, Prefix) + "/" + r.Severity + r.Variant; !seen[name] {
			t.Errorf("no text of %s is checked: add a scenario in which it fires to texts, in texts_test.go", name)
		}
	}
}

const lookUpText = " If the label is a hash, `gen-dashboards label --key-file FILE --key-id ID < NAMES` prints the labels of the names in a file."

// Every alert about a lock names the backend on which its replicas agree, and
// no alert of a job does.
func TestAlertsCarryTheBackendThatIsKnown(t *testing.T) {
	for name, c := range map[string]struct{ info, want string }{
		"one":        {`leader_elector_info{instance="i1",mode="hold",backend="etcd"} 1x40`, "etcd"},
		"none":       {`leader_elector_info{instance="i1",mode="hold"} 1x40`, ""},
		"two":        {`leader_elector_info{instance="i1",mode="hold",backend="etcd"} 1x40` + "\n" + `leader_elector_info{instance="i2",mode="hold",backend="redis"} 1x40`, ""},
		"one on two": {`leader_elector_info{instance="i1",mode="hold",backend="etcd"} 1x40` + "\n" + `leader_elector_info{instance="i2",mode="hold",backend="etcd"} 1x40`, "etcd"},
		"a missed scrape": {`leader_elector_info{instance="i1",mode="hold",backend="etcd"} ` + strings.Repeat("1 1 stale ", 14) + "\n" +
			`leader_elector_info{instance="i2",mode="hold"} 1x40`, "etcd"},
	} {
		t.Run(name, func(t *testing.T) {
			s := scenario.Scenario{ID: "X", Name: name, Every: 30 * time.Second, End: 10 * time.Minute, Load: c.info + `
				leader_active{instance="i1"} 0x40
				leader_active{instance="i2"} 0x40`}
			fired, err := s.Fire(t.Context(), evaluated(rulesOf(t, Default())), seriesOf(t, s, Default()), promeval.V3)
			if err != nil || len(fired) != 1 {
				t.Fatalf("got %v, %v; want one alert", fired, err)
			}
			if got := fired[0].Labels.Get(backendLabel); got != c.want {
				t.Errorf("backend %q, want %q", got, c.want)
			}
		})
	}
}

// A store that checks tokens does not campaign, and is scraped under a job of its
// own: the replicas of its lock know the backend.
func TestAnAlertOfAStoreCarriesTheBackendOfItsLock(t *testing.T) {
	for name, c := range map[string]struct{ info, want string }{
		"of one job":                        {`leader_elector_info{instance="i1",job="worker",mode="hold",backend="etcd"} 1x40`, "etcd"},
		"of two jobs that agree":            {`leader_elector_info{instance="i1",job="blue",backend="etcd"} 1x40` + "\n" + `leader_elector_info{instance="i2",job="green",backend="etcd"} 1x40`, "etcd"},
		"of two jobs that do not":           {`leader_elector_info{instance="i1",job="blue",backend="etcd"} 1x40` + "\n" + `leader_elector_info{instance="i2",job="green",backend="redis"} 1x40`, ""},
		"of another lock of the same store": {`leader_elector_info{instance="i1",job="worker",lock_name="y",backend="etcd"} 1x40`, ""},
		"of none that is scraped":           {``, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := scenario.Scenario{ID: "X", Name: name, Every: 30 * time.Second, End: 10 * time.Minute, Load: c.info + `
				leader_fencing_checks_total{instance="s1",job="store",result="stale"} 0x9 1x40`}
			fired, err := s.Fire(t.Context(), evaluated(rulesOf(t, Default())), seriesOf(t, s, Default()), promeval.V3)
			if err != nil || len(fired) != 1 {
				t.Fatalf("got %v, %v; want one alert", fired, err)
			}
			if got := fired[0].Labels.Get(backendLabel); got != c.want {
				t.Errorf("backend %q, want %q", got, c.want)
			}
			if got := fired[0].Labels.Get("job"); got != "store" {
				t.Errorf("job %q, want that of the store", got)
			}
		})
	}
}

// Servers refuse long queries: VictoriaMetrics 16 KiB, a URL not much more.
func TestRulesAreShortEnoughForEveryEngine(t *testing.T) {
	for name, c := range variants() {
		for _, r := range rulesOf(t, c) {
			if len(r.Expr) > 12<<10 {
				t.Errorf("%s: %s is %d bytes long", name, r.Name, len(r.Expr))
			}
		}
	}
}

// VictoriaMetrics, and Prometheus before 2.40, refuse a file in which one rule
// reads native histograms.
func TestTheDefaultReadsNoNativeHistograms(t *testing.T) {
	c := Default()
	c.Recording = true
	file, err := YAML(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"histogram_count", "histogram_sum", "histogram_fraction"} {
		if strings.Contains(string(file), f) {
			t.Errorf("the default file uses %s", f)
		}
	}
}

// promtool stops at 10,000 samples: a fleet of that size must be tested.
func TestAFleetOfSixtyReplicasIsWithinTheLimitOfPromtool(t *testing.T) {
	load := scenario.Fleet(60, `leader_elector_info{mode="hold",backend="etcd"`, "1x800")
	load = strings.ReplaceAll(load, `"etcd"{`, `"etcd",`)
	for _, m := range []string{catalog.Active.Name(), catalog.Acquired.Name(), catalog.Attempts.Name(), catalog.ExpectedInterval.Name(), catalog.LastAcquired.Name(), catalog.LeaseExpiry.Name(), catalog.LeaseOverruns.Name()} {
		load += scenario.Fleet(60, m, "1x800")
	}
	load += scenario.Fleet(60, catalog.LeaseUsageRatio.Count(), "1x800")
	s := scenario.Scenario{ID: "X", Name: "sixty", Every: 30 * time.Second, End: 6 * time.Hour, Load: load}
	store, err := promeval.LoadLimited(seriesOf(t, s, Default()), s.Every, promeval.V3, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rulesOf(t, Default()) {
		if _, err := store.Results(t.Context(), r.evaluated(), s.End); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
}

// For any accepted window, no rule uses more steps: a year would take minutes in the
// format promtool, and too many samples everywhere.
func TestNoWindowMakesASubqueryOfManySteps(t *testing.T) {
	c := Default()
	year := minutes(365 * 24 * 60)
	c.Alerts.Flapping.Window, c.Alerts.JobOverdue.Lookback, c.Alerts.LockVanished.Lookback, c.Alerts.NearLease.Window = year, year, year, year
	c.Alerts.NoStandby.Lookback, c.Alerts.TaskFailing.Window, c.Alerts.NoLeader.Lookback = year, year, year
	for _, r := range append(rulesOf(t, c), rulesOf(t, Default())...) {
		parsed, err := query.Parse(query.Expr(r.Expr))
		if err != nil {
			t.Fatal(err)
		}
		parser.Inspect(parsed, func(n parser.Node, _ []parser.Node) error {
			if s, ok := n.(*parser.SubqueryExpr); ok && s.Range/s.Step > coarseSteps {
				t.Errorf("%s: %s has %d steps, want at most %d", r.Name, s, s.Range/s.Step, coarseSteps)
			}
			return nil
		})
	}
}
