package promeval

import (
	"fmt"
	"testing"
	"time"
)

func TestRecordedSeriesAreReadLikeOthers(t *testing.T) {
	cases := map[string]struct {
		expr string
		at   time.Duration
		want []float64
	}{
		"while the source is there":        {"job:x:sum", time.Minute, []float64{3}},
		"not once it is gone":              {"job:x:sum", 2 * time.Minute, nil},
		"again when it is back":            {"job:x:sum", 4 * time.Minute, []float64{5}},
		"a recording of a recording":       {"job:x:double", 4 * time.Minute, []float64{10}},
		"over time, with the gap left out": {"count_over_time(job:x:sum[10m])", 4 * time.Minute, []float64{3}},
	}
	store, err := Load([]Series{{Selector: `x{a="1"}`, Values: "1 1 stale _ 2x5"}, {Selector: `x{a="2"}`, Values: "2 2 stale _ 3x5"}}, time.Minute, V3)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct{ name, expr string }{{"job:x:sum", "sum(x)"}, {"job:x:double", "2 * job:x:sum"}} {
		if err := store.Record(t.Context(), r.name, r.expr, 5*time.Minute, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := store.Query(t.Context(), c.expr, epoch.Add(c.at))
			if err != nil || len(got) != len(c.want) || len(got) == 1 && got[0].F != c.want[0] {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestRecordRefusesTwoResultsOfOneName(t *testing.T) {
	store, err := Load([]Series{{Selector: "x", Values: "1x3"}, {Selector: "y", Values: "1x3"}}, time.Minute, V3)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Record(t.Context(), "z", "x", time.Minute, time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := store.Record(t.Context(), "z", "y", time.Minute, time.Minute); err == nil {
		t.Error("want an error")
	}
}

func TestAlertsAreSeriesWhileTheyFire(t *testing.T) {
	store, err := Load([]Series{{Selector: `x{a="1"}`, Values: "1x2 0x2 1x5"}}, time.Minute, V3)
	if err != nil {
		t.Fatal(err)
	}
	fired, err := store.Alerts(t.Context(), Rule{Name: "A", Expr: "x > 0", Labels: map[string]string{"severity": "s"}}, 9*time.Minute, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	store.RecordAlerts(fired, 9*time.Minute, time.Minute)
	for at, want := range map[time.Duration]string{
		2 * time.Minute: `{__name__="ALERTS", a="1", alertname="A", alertstate="firing", severity="s"} 1`,
		4 * time.Minute: "",
		6 * time.Minute: `{__name__="ALERTS", a="1", alertname="A", alertstate="firing", severity="s"} 1`,
	} {
		got := ""
		found, err := store.Query(t.Context(), "ALERTS", epoch.Add(at))
		if len(found) == 1 {
			got = fmt.Sprintf("%s %v", found[0].Metric, found[0].F)
		}
		if err != nil || got != want {
			t.Errorf("at %v: %q, %v; want %q", at, got, err, want)
		}
	}
	since, err := store.Query(t.Context(), "ALERTS_FOR_STATE", epoch.Add(9*time.Minute))
	if err != nil || len(since) != 1 || since[0].F != 360 {
		t.Errorf("since %v, %v; want 360", since, err)
	}
}
