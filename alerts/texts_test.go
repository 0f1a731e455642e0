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
		`NoAcquisition/warning [redis] No replica acquires lock x: Replicas of job a made about 11 attempts to acquire lock x in the last 10m. None succeeded, and no replica held the lock. The work behind this lock is not being done. The lock is of family orders.`,
	},
	"B16 the node of the leader dies with a lease": {
		`NoLeader/critical [etcd] Lock x has no leader: No replica of job a has held lock x for 30s, and no lease that is known still runs. The work of the leader is not being done. Most attempts that failed in the last 5m ended as timeout. No replica was told in the last 2m that the lock is held. The lock is of family orders.`,
		`ScrapeFailing/warning [] Replicas of job a cannot be scraped: Replicas of job a that exported leader election metrics and have not been scraped for more than 5m: 1. One of them may lead. Targets that are down: i1.`,
	},
	"B17 a leader with a lease of an hour crashes, and its": {
		`NoLeader/critical [etcd] Lock x has no leader: No replica of job a has held lock x for 30s, and no lease that is known still runs. The work of the leader is not being done. No replica was told in the last 2m that the lock is held. The lock is of family orders.`,
		`NoLeader/warning [etcd] Lock x has no leader that can be seen: No replica of job a that can be scraped has held lock x for 5m. The replica that held it last is gone. Its lease may still run, or it leads without being scraped. No replica was told in the last 2m that the lock is held. The lock is of family orders.`,
	},
	"S11": {
		`SplitBrain/critical [] Lock x has 4 leaders at once: Lock x of job a is claimed 4 times at once, more than its elector allows, and has been for 30s or longer. Work that the lock should keep apart may be done twice. Claimed by: i1 i2.`,
	},
	"Q1": {
		`Overlap/warning [etcd] Two terms of lock x overlapped: Two replicas of job a held lock x at once for about 20s, within the last 6m. Work that the lock should keep apart may have been done twice. Terms that ended lately were of: i1. The lock is of family orders.`,
	},
	"D1": {
		`Flapping/warning [etcd] Leadership of lock x changes hands too often: Lock x of job a was acquired about 5 times in the last 15m, more often than replicas that left or restarted explain. Each handover is a gap in the leader's work. The lock is of family orders.`,
	},
	"D14": {
		`Flapping/warningslow [etcd] Leadership of lock x changes hands too often: Lock x of job a was acquired about 19 times in the last 6h, more often than replicas that left or restarted explain. Each handover is a gap in the leader's work. The lock is of family orders.`,
	},
	"E11": {
		`BackendErrors/critical [etcd] Attempts to acquire lock x meet backend errors: 91.67% of the attempts to acquire lock x of job a met a backend error in the last 3m. Most of them on: i0 s0 s1 s2. No replica leads. The lock is of family orders.`,
		`BackendErrors/warning [etcd] Attempts to acquire lock x meet backend errors: 96.8% of the attempts to acquire lock x of job a met a backend error in the last 10m. Most of them on: i0 s0 s1 s2. The lock is of family orders.`,
		`NoLeader/critical [etcd] Lock x has no leader: No replica of job a has held lock x for 30s, and no lease that is known still runs. The work of the leader is not being done. Most attempts that failed in the last 5m ended as backend_error. No replica was told in the last 2m that the lock is held. The lock is of family orders.`,
	},
	"F1": {
		`RenewalFailures/warning [etcd] Renewals of lock x fail: 33.33% of the renewals of lock x of job a failed in the last 10m, and renewals still fail. When the lease ends before one succeeds, the lock is lost. Most of them on: i1. The lock is of family orders.`,
	},
	"G3": {
		`LeaseExceeded/critical [redis] Lock x was held past the end of its lease: Terms of lock x of job a that ran past their lease in the last 30m: about 1. From that moment another replica could have taken the lock while the work continued. Replicas: i1. The lock is of family orders.`,
		`NearLease/warning [redis] Lock x comes close to the end of its lease: Runs or renewals of lock x of job a that used more than 80 % of the lease in the last 30m: about 1. If they become slower, the lock is free while the work continues. The lock is of family orders.`,
	},
	"H1": {
		`LowHeadroom/warning [redis] The lease of lock x is about to expire: 10% of the lease of lock x of job a is left while a term is open, and it has been less than 20 % for more than 1m30s; below zero it has ended. Another replica may take the lock while the work continues. Replicas: i1. The lock is of family orders.`,
	},
	"C16": {
		`WorkAfterLoss/critical [etcd] Work continued after lock x was lost: A replica of job a worked for 40s in the last 30m after it had lost lock x. Another replica may have done the same work at the same time. Replicas: i1. The lock is of family orders.`,
	},
	"J15": {
		`JobOverdue/warning [] The job behind lock x is overdue: Lock x of job a was not acquired for 1h 32m 2s or longer, which is more than 1.5 times the interval that it was declared with.`,
	},
	"T1": {
		`TaskFailing/warning [redis] The work under lock x fails: Runs under lock x of job a that returned an error or panicked in the last 1h: about 1. The lock did its part. Most of them on: i1. The lock is of family orders.`,
	},
	"K8": {
		`TokenRegressed/critical [redis] The fencing token of lock x went back: Terms of lock x of job a whose fencing token was lower than an earlier one, in the last 30m: about 1. A store that fences refuses the new leader, or has let an old one through. Replicas with a token of it: i1 i2. The lock is of family orders.`,
	},
	"Z1": {
		`StaleWrite/warning [] A store refused late writes under lock x: Writes under lock x that a store of job a refused in the last 30m, because their fencing token was lower than one it had seen: about 1. A replica kept writing after another had taken over; what it did elsewhere, without a token, was not stopped. Checked by: s1.`,
	},
	"N1": {
		`NoStandby/warning [] Lock x has no standby: Replicas of job a that can hold lock x: 1, and it had more within the last 6h. If the leader fails, no replica takes over.`,
	},
	"P1": {
		`AttemptStuck/warning [redis] An attempt to acquire lock x is stuck: An attempt of job a to acquire lock x has been waiting for 10m 30s, longer than the runs and waits of the last 6h explain. The lock is held by: i1. The lock is of family orders.`,
	},
	"X1": {
		`Vacant/critical [kubernetes] No process holds lock ns/app: The backend kubernetes has named no live holder of lock ns/app for 1m. The work of the leader is not being done. Either no candidate runs, or none can reach the backend. Holders within the last 6h: h1. Reported by: o1.`,
	},
	"I4": {
		`Impostor/critical [etcd] A process leads lock x, and the backend names another: Processes of job a that lead lock x although the backend names another holder: 1. Two processes may do the same work. Stop the one that the backend does not name. Leading: i1 i2. The backend names: h2. The lock is of family orders.`,
		`SplitBrain/critical [etcd] Lock x has 2 leaders at once: Lock x of job a is claimed 2 times at once, more than its elector allows, and has been for 30s or longer. Work that the lock should keep apart may be done twice. Claimed by: i1 i2. The lock is of family orders.`,
	},
	"Y1": {
		`ObserverBlind/warning [kubernetes] What the backend kubernetes says of its locks is not known: No process of job observer in namespace mon has been able to ask the backend kubernetes for 5m, or none that did is scraped any more. A lock without a leader is not noticed there. Locks that were watched there within the last 1h: 2.`,
	},
	"M9": {
		`MetricsAbsent/critical [] No leader election metrics of job a, which led a lock: No replica of job a has exported leader_active for more than 6m, and one of them held a lock when it was last seen. If they are down, the work of the leader is not being done.`,
		`MetricsAbsent/warning [] No leader election metrics of job a: No replica of job a has exported leader_active for more than 10m. Every other alert about its locks is blind: a lock without a leader would not be noticed.`,
	},
	"V1": {
		`LockVanished/warning [] Lock x stopped exporting metrics: No replica of job a has exported series of lock x for more than 10m, although others of the job do. It was led when it was last seen, or is declared to run. If it was retired on purpose, the alert ends within 1h.`,
	},
	"U4": {
		`ScrapeFailing/warning [] Replicas of job a cannot be scraped: Replicas of job a that exported leader election metrics and have not been scraped for more than 5m: 1. One of them may lead. Targets that are down: i1.`,
	},
	"R2": {
		`RedactionKeyMismatch/warning [] Replicas of job a label lock names in different ways: Replicas of job a have labelled lock names in 2 ways for more than 15m. One lock has a label under each, so a split brain between such replicas cannot be seen. In use (replicas: policy, key_id, key_check): (2: hash k1 1a2b3c4d) (1: hash k1 5e6f7a8b).`,
	},
	"O1": {
		`LabelOverflow/warning [] Locks of job a share the label overflow: Replicas of job a with more locks than the cap on labels allows: 1. The locks beyond it share the label overflow, and no alert judges one of them. Names folded by one replica: 44.`,
	},
}

func TestTextsSayWhatHappened(t *testing.T) {
	seen := map[string]bool{}
	for title, want := range texts {
		s := scenarioTitled(t, title)
		fired, err := s.Fire(t.Context(), evaluated(rulesOf(t, configOf(s))), seriesOf(t, s, Default()), promeval.V3)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range fired {
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
			t.Errorf("no text of %s is checked", name)
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

// Whatever window is accepted, no rule asks more often for it: a year would be
// minutes of work in the format promtool, and too many samples everywhere.
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
