package main

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/tsdb"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/dashboards"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// A query that finds nothing costs nothing: the fleet has something for each.
func TestTheFleetHasDataForEveryQuery(t *testing.T) {
	dir, end := t.TempDir(), time.Unix(1_700_000_010, 0).Truncate(scrape)
	v := view{end: end, span: 40 * time.Minute}
	f := fleet{locks: 110, replicas: 3, span: v.span, reads: func(*catalog.Metric) bool { return true }}
	if _, err := f.write(t.Context(), dir, end); err != nil {
		t.Fatal(err)
	}
	rules := alerts.Default()
	rules.Recording = true
	recordings, err := alerts.Recordings(rules)
	if err != nil {
		t.Fatal(err)
	}
	if err := record(t.Context(), dir, recordings, end, v.span); err != nil {
		t.Fatal(err)
	}
	db, err := tsdb.OpenDBReadOnly(dir, "", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	engine := newEngine()
	t.Cleanup(func() { engine.Close() })
	for _, recording := range []bool{false, true} {
		questions, err := board(dashboards.Overview, recording)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range questions {
			asked, err := engine.NewRangeQuery(t.Context(), db, nil, v.fill(q.expr), end.Add(-10*time.Minute), end, scrape)
			if err != nil {
				t.Fatal(err)
			}
			matrix, err := asked.Exec(t.Context()).Matrix()
			if err != nil {
				t.Fatalf("panel %s, query %s: %v", q.panel, q.ref, err)
			}
			may := slices.ContainsFunc(nothingThere, func(s string) bool { return strings.Contains(q.panel+" "+q.ref, s) })
			if len(matrix) == 0 && !may {
				t.Errorf("panel %s, query %s (recorded: %v) finds nothing", q.panel, q.ref, recording)
			}
			asked.Close()
		}
	}
}

// nothingThere are queries for what a fleet of classic histograms lacks that no
// rule judges and whose work stops in time.
var nothingThere = []string{"Native", "Alert firing", "Alerts firing", " Firing", "Works without lock", "Replica started"}
