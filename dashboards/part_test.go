package dashboards

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/leaderscope/leaderscope/internal/panel"
)

// parts are the panels of the overview that leave out locks, and what they say
// of 20 locks on two replicas each.
var parts = map[int]string{
	panel.Leaders:        "11 more locks: see the table",
	panel.HolderTimeline: "the 8 most moved of 20 locks",
	panel.Holders:        "the 12 highest of 20 locks",
	panel.BackendErrors:  "the 12 highest of 20 locks",
	panel.Waiting:        "the 12 highest of 20 locks",
	panel.Headroom:       "the 12 lowest of 20 locks",
	panel.Overruns:       "the 12 highest of 20 locks",
	panel.Execution:      "the 12 highest of 20 locks",
	panel.Failures:       "the 12 highest of 20 locks",
	panel.WorkAfterLoss:  "the 12 highest of 20 replicas",
}

// viewParts are those of the dashboard of the backends.
var viewParts = map[int]string{
	panel.BackendTimeline:  "the 8 most moved of 20 locks",
	panel.BackendVacancies: "the 12 highest of 20 locks",
	panel.BackendTerms:     "the 12 highest of 20 locks",
	panel.BackendHandover:  "the 12 highest of 20 locks",
	panel.BackendRenewAge:  "the 12 highest of 20 locks",
}

// eachPart visits the panels that leave out locks.
func eachPart(t *testing.T, visit func(p boardPanel, says string)) {
	t.Helper()
	view, err := Backends(Default())
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range parts {
		visit(decoded(t, overview(t)).panel(id), want)
	}
	for id, want := range viewParts {
		visit(decoded(t, view).panel(id), want)
	}
}

func TestAPanelOfAPartSaysHowManyThereAre(t *testing.T) {
	eachPart(t, func(p boardPanel, want string) {
		if got := p.part(t, lively(20)); got != want {
			t.Errorf("panel %q says %q of 20 locks, want %q", p.Title, got, want)
		}
	})
}

func TestAPanelOfAllDoesNotSpeakOfAPart(t *testing.T) {
	eachPart(t, func(p boardPanel, _ string) {
		n := drawnLocks
		switch p.ID {
		case panel.HolderTimeline, panel.BackendTimeline:
			n = timelineLocks
		case panel.Leaders:
			n = tiles
		}
		if got := p.part(t, lively(n)); got != "" {
			t.Errorf("panel %q of %d locks says %q", p.Title, n, got)
		}
	})
}

// A panel that leaves something out is in the table above, or ranks what is
// beside its matter.
func TestEveryPanelOfAPartIsKnown(t *testing.T) {
	ranked := regexp.MustCompile(`(top|bottom)k ?\( ?\d\d`)
	eachBoard(t, func(t *testing.T, name string, _ Config, out []byte) {
		for _, p := range decoded(t, out).Panels {
			for _, target := range p.Targets {
				says := p.expr(partRef) != ""
				if ranked.MatchString(target.Expr) && !says && target.RefID != "Regressed" {
					t.Errorf("panel %q, query %s leaves something out and does not say so: wrap the panel in q.highest or q.lowest", p.Title, target.RefID)
				}
			}
			_, known := parts[p.ID]
			_, ofView := viewParts[p.ID]
			if p.expr(partRef) != "" && !known && !ofView && p.ID != panel.Scraped {
				t.Errorf("panel %q speaks of a part and is in no test", p.Title)
			}
		}
	})
}

// The replicas of one lock may be many too.
func TestScrapedReplicasAreCounted(t *testing.T) {
	out, err := Lock(Default())
	if err != nil {
		t.Fatal(err)
	}
	scraped := decoded(t, out).panel(panel.Scraped)
	for n, want := range map[int]string{drawnReplicas: "", drawnReplicas + 1: "the 12 worst of 13 replicas"} {
		crowd := lock{name: "x", mode: "hold", active: [2]string{on, off}, more: map[string]string{}}
		for i := range n {
			// Replicas of one name in different namespaces are different ones.
			crowd.more[fmt.Sprintf("up|,namespace=\"n%d\"", i)] = on
			crowd.more[fmt.Sprintf("leader_attempts_total|,namespace=\"n%d\"", i)] = on
		}
		if got := scraped.part(t, []lock{crowd}); got != want {
			t.Errorf("of %d replicas it says %q, want %q", n, got, want)
		}
	}
}

// part is what a panel says of what it leaves out; nothing where it shows all.
func (p boardPanel) part(t *testing.T, locks []lock) string {
	t.Helper()
	i := slices.IndexFunc(p.Targets, func(target boardTarget) bool { return target.RefID == partRef })
	result := vector(t, allChosen(p.Targets[i].Expr), locks...)
	switch {
	case !p.Targets[i].Instant:
		t.Errorf("panel %q counts at each step: a legend for each number", p.Title)
	case len(result) > 1:
		t.Errorf("panel %q says %d things", p.Title, len(result))
	case len(result) == 1:
		return strings.ReplaceAll(p.Targets[i].Legend, "{{of}}", result[0].Metric.Get(ofLabel))
	}
	return ""
}

// lively are locks that every panel has something to show of.
func lively(n int) []lock {
	var all []lock
	for i := range n {
		l := lock{name: fmt.Sprintf("l%d", i), mode: "run", active: [2]string{on, off}, more: merged(backendErrors("0+1x40"), usage("0x20 1x20", "0x40"))}
		maps.Copy(l.more, map[string]string{
			"leader_lease_duration_seconds": "15x40", "leader_lease_headroom_seconds": "9x40", "leader_lease_overruns_total": "0+1x40",
			"leader_pending_age_seconds": "600x40", "leader_work_after_loss_seconds_total": "0+1x40",
			`leader_work_after_loss_seconds_total|,pod="b"`:  "0x40",
			`leader_execution_failures_total|,cause="error"`: "0+1x40",
			"leader_execution_duration_seconds_count":        "0+1x40", "leader_execution_duration_seconds_sum": "0+2x40",

			"leader_backend_terms_total": "0+1x40", "leader_backend_vacant_seconds_total": "0+1x40", "leader_backend_lease_duration_seconds": "15x40", "leader_backend_held": "1x40",
			"leader_backend_lease_expiry_timestamp_seconds": "10+30x40", "leader_backend_handover_seconds_count": "0+1x40", "leader_backend_handover_seconds_sum": "0+2x40",
		})
		all = append(all, l)
	}
	return all
}
