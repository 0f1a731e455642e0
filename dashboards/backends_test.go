package dashboards

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/promeval"
)

// watchedLock is what an observer says of a lock. Samples are 30 s apart, and panels
// are asked at sample 40.
func watchedLock(lock string, values map[string]string) (all []promeval.Series) {
	for metric, v := range values {
		name, more, _ := strings.Cut(metric, "|")
		all = append(all, promeval.Series{Selector: fmt.Sprintf(`%s{job="observer",instance="o1",backend="kubernetes",lock_name=%q,%s}`, name, lock, more), Values: v})
	}
	return all
}

// observed is a cluster as an observer exports it: a is held and was renewed 5 s
// ago, b lost its holder at sample 30, c never has one, and the state of d is
// unknown.
func observed() []promeval.Series {
	all := []promeval.Series{
		{Selector: `leader_backend_up{job="observer",instance="o1",backend="kubernetes"}`, Values: "1x40"},
		{Selector: `leader_backend_up{job="observer",instance="o2",backend="kubernetes"}`, Values: "0x40"},
		{Selector: `leader_backend_up{job="observer",instance="o1",backend="redis"}`, Values: "0x40"},
		{Selector: `leader_backend_poll_interval_seconds{job="observer",instance="o1",backend="redis"}`, Values: "5x40"},
	}
	for name, values := range map[string]map[string]string{
		"a": {
			"leader_backend_held": "1x40", "leader_backend_holder_info|holder=\"pod-1\"": "1x40", "leader_backend_lease_duration_seconds": "15x40",
			"leader_backend_lease_expiry_timestamp_seconds": "10+30x40", "leader_backend_terms_total": "0x40", "leader_backend_vacant_seconds_total": "0x40",
			"leader_backend_token": "7x40", "leader_backend_last_event_timestamp_seconds": "-5+30x40",
		},
		"b": {
			"leader_backend_held": "1x29 0x10", "leader_backend_holder_info|holder=\"pod-2\"": "1x29 stale", "leader_backend_lease_duration_seconds": "15x40",
			"leader_backend_lease_expiry_timestamp_seconds": "10+30x29 885x10", "leader_backend_terms_total": "0x10 2x30",
			"leader_backend_vacant_seconds_total": "0x30 30+30x9", "leader_backend_last_event_timestamp_seconds": "-5+30x29 880x10",
			"leader_backend_handover_seconds_count": "0x10 2x30", "leader_backend_handover_seconds_sum": "0x10 6x30",
		},
		"c": {
			"leader_backend_held": "0x40", "leader_backend_terms_total": "0x40", "leader_backend_vacant_seconds_total": "0+30x40",
			"leader_backend_last_event_timestamp_seconds": "0x40",
		},
		"d": {
			"leader_backend_held": "1x20 stale", "leader_backend_terms_total": "0x40", "leader_backend_vacant_seconds_total": "0x40",
			"leader_backend_last_event_timestamp_seconds": "600x40",
		},
	} {
		all = append(all, watchedLock(name, values)...)
	}
	return all
}

func TestTheBackendsDashboardShowsWhatTheBackendsSay(t *testing.T) {
	store, err := promeval.Load(append(observed(), promeval.Series{
		Selector: `ALERTS{alertname="LeaderElectionVacant",alertstate="firing",severity="critical",job="observer",lock_name="b",backend="kubernetes"}`, Values: "_x33 1x7",
	}), 30*time.Second, promeval.V3)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Backends(Default())
	if err != nil {
		t.Fatal(err)
	}
	b := decoded(t, out)
	for name, c := range map[string]struct {
		panel int
		query string
		// label tells the series of the result apart.
		label string
		want  map[string]float64
	}{
		"without a holder, and paged":       {panel.BackendFree, "Firing", "", map[string]float64{"": 1}},
		"without a holder, and not paged":   {panel.BackendFree, "Now", "", map[string]float64{"": 0}},
		"how many are watched":              {panel.BackendWatched, "All", "", map[string]float64{"": 4}},
		"how many are held":                 {panel.BackendWatched, "Held", "", map[string]float64{"": 1}},
		"no impostor":                       {panel.BackendImpostors, "A", "lock_name", map[string]float64{}},
		"a backend that one of two can ask": {panel.BackendUp, "A", "backend", map[string]float64{"kubernetes": 1, "redis": 0}},
		"the backend that is polled":        {panel.BackendPolling, "A", "backend", map[string]float64{"redis": 5}},
		"standing":                          {panel.BackendLocks, "Held", "lock_name", map[string]float64{"a": standingHeld, "b": standingFree, "c": standingFree, "d": standingUnknown}},
		"holder":                            {panel.BackendLocks, "Holder", "holder", map[string]float64{"pod-1": 1}},
		"length of the lease":               {panel.BackendLocks, "Lease", "lock_name", map[string]float64{"a": 15, "b": 15}},
		"age of the renewal":                {panel.BackendLocks, "Renewed", "lock_name", map[string]float64{"a": 5, "b": 330}},
		"time without a holder":             {panel.BackendLocks, "Vacant", "lock_name", map[string]float64{"a": 0, "b": 300, "c": 1200, "d": 0}},
		"terms":                             {panel.BackendLocks, "Terms", "lock_name", map[string]float64{"a": 0, "b": 2, "c": 0, "d": 0}},
		"what the backend counts":           {panel.BackendLocks, "Token", "lock_name", map[string]float64{"a": 7}},
		"last news":                         {panel.BackendLocks, "Event", "lock_name", map[string]float64{"a": 1_195_000, "b": 880_000, "c": 0, "d": 600_000}},
		"who is named":                      {panel.BackendTimeline, "Named", "holder", map[string]float64{"pod-1": 1}},
		"what is free":                      {panel.BackendTimeline, "Free", "lock_name", map[string]float64{"b": 0, "c": 0}},
		"time without a holder, lately":     {panel.BackendVacancies, "A", "lock_name", map[string]float64{"a": 0, "b": 120, "c": 120, "d": 0}},
		"terms, lately":                     {panel.BackendTerms, "A", "lock_name", map[string]float64{"a": 0, "b": 0, "c": 0, "d": 0}},
		"no handover lately":                {panel.BackendHandover, "A", "lock_name", map[string]float64{}},
		"share of the lease":                {panel.BackendRenewAge, "A", "lock_name", map[string]float64{"a": 5. / 15}},
		"reporters":                         {panel.BackendReporters, "A", "instance", map[string]float64{"o1": 0, "o2": 0}},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := store.Query(t.Context(), allChosen(b.panel(c.panel).expr(c.query)), time.Unix(1200, 0))
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]float64{}
			for _, s := range result {
				key := s.Metric.Get(c.label)
				if before, twice := got[key]; twice && before < s.F {
					continue
				}
				got[key] = s.F
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Two gaps of three seconds in one scrape, on the average.
func TestHandoversBetweenTwoScrapesAreDrawn(t *testing.T) {
	store, err := promeval.Load(observed(), 30*time.Second, promeval.V3)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Backends(Default())
	if err != nil {
		t.Fatal(err)
	}
	b := decoded(t, out)
	for query, want := range map[string]float64{b.panel(panel.BackendHandover).expr("A"): 3, b.panel(panel.BackendTerms).expr("A"): 2} {
		result, err := store.Query(t.Context(), allChosen(query), time.Unix(345, 0))
		if err != nil {
			t.Fatal(err)
		}
		var got []float64
		for _, s := range result {
			if s.Metric.Get("lock_name") == "b" {
				got = append(got, s.F)
			}
		}
		if len(got) != 1 || got[0] < want*0.99 || got[0] > want*1.4 {
			t.Errorf("got %v, want about %v: %s", got, want, query)
		}
	}
}

// A histogram begins with its first handover.
func TestTheFirstHandoverIsDrawn(t *testing.T) {
	store, err := promeval.Load(watchedLock("a", map[string]string{
		"leader_backend_handover_seconds_count": "_x20 1x20", "leader_backend_handover_seconds_sum": "_x20 7x20",
	}), 30*time.Second, promeval.V3)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Backends(Default())
	if err != nil {
		t.Fatal(err)
	}
	expr := allChosen(decoded(t, out).panel(panel.BackendHandover).expr("A"))
	for at, want := range map[int64][]float64{570: nil, 600: {7}, 690: {7}, 780: nil} {
		result, err := store.Query(t.Context(), expr, time.Unix(at, 0))
		if err != nil {
			t.Fatal(err)
		}
		var got []float64
		for _, s := range result {
			got = append(got, s.F)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("at %d s: want -, got +\n%s", at, diff)
		}
	}
}

func TestAProcessThatIsNotTheHolderIsNamed(t *testing.T) {
	series := []promeval.Series{
		{Selector: `leader_active{job="a",instance="i1",lock_name="x"}`, Values: "1x40"},
		{Selector: `leader_identity_info{job="a",instance="i1",lock_name="x",holder="h1"}`, Values: "1x40"},
		{Selector: `leader_elector_info{job="a",instance="i1",lock_name="x",mode="hold"}`, Values: "1x40"},
		{Selector: `leader_backend_holder_info{job="observer",instance="o1",lock_name="x",holder="h1",backend="etcd"}`, Values: "1x20 stale"},
		{Selector: `leader_backend_holder_info{job="observer",instance="o1",lock_name="x",holder="h2",backend="etcd"}`, Values: "_x21 1x19"},
	}
	store, err := promeval.Load(series, 30*time.Second, promeval.V3)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Backends(Default())
	if err != nil {
		t.Fatal(err)
	}
	expr := allChosen(decoded(t, out).panel(panel.BackendImpostors).expr("A"))
	for at, want := range map[int]int{600: 0, 1200: 1} {
		result, err := store.Query(t.Context(), expr, time.Unix(int64(at), 0))
		if err != nil || len(result) != want {
			t.Errorf("at %d s: got %v, %v; want %d processes", at, result, err, want)
		}
	}
}
