package dashboards

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/leaderscope/leaderscope/internal/panel"
)

// panelFile is where the numbers of panels are.
const panelFile = "../internal/panel/panel.go"

// numbered are the panels that have a number there, by it.
func numbered(t *testing.T) map[int]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), panelFile, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[int]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		c, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, v := range c.Values {
			if literal, ok := v.(*ast.BasicLit); ok && literal.Kind == token.INT {
				id, _ := strconv.Atoi(literal.Value)
				if other, taken := names[id]; taken {
					t.Errorf("%s: %s and %s are both %d; give the newer one the next free number", panelFile, other, c.Names[i].Name, id)
				}
				names[id] = c.Names[i].Name
			}
		}
		return true
	})
	return names
}

func TestEveryPanelHasANumberThatAlertsCanLinkTo(t *testing.T) {
	names := numbered(t)
	next := slices.Max(slices.Collect(maps.Keys(names))) + 1
	used := map[int]bool{}
	eachBoard(t, func(t *testing.T, name string, _ Config, out []byte) {
		for _, p := range decoded(t, out).Panels {
			used[p.ID] = true
			if p.Type != "row" && names[p.ID] == "" {
				t.Errorf("panel %q of the dashboard %s has the id %d, which has no name in %s; add a constant with the number %d there and use it as the panel's id",
					p.Title, name, p.ID, panelFile, next)
			}
		}
	})
	for id, name := range names {
		if !used[id] {
			t.Errorf("%s: no dashboard shows panel.%s; list its function in a row, in the file of dashboards that has that row", panelFile, name)
		}
	}
}

// An id is in every alert that was sent: it never comes to mean another panel.
func TestIdsNeverChange(t *testing.T) {
	ids := []int{
		1: panel.Leaders, 2: panel.Holders, 3: panel.HolderTimeline, 4: panel.Outcomes, 5: panel.BackendErrors, 6: panel.Transitions,
		7: panel.Waiting, 8: panel.Execution, 9: panel.LeaseUsage, 10: panel.Headroom, 11: panel.Renewals, 12: panel.WorkAfterLoss,
		13: panel.Locks, 14: panel.Overruns, 15: panel.Instrumentation, 16: panel.Leaderless, 17: panel.Crowded, 18: panel.NearLease,
		19: panel.BackendTrouble, 20: panel.Failures, 21: panel.Holder, 22: panel.State, 23: panel.LeaseLeft, 24: panel.LastAcquired,
		25: panel.Declared, 26: panel.Replicas, 27: panel.FencingToken, 28: panel.AcquireDuration, 29: panel.RenewalDuration,
		30: panel.Cadence, 31: panel.Working, 32: panel.Scraped, 33: panel.Failover, 34: panel.Unseen, 35: panel.Unprotected,
		36: panel.Alerts, 37: panel.AlertTimeline, 38: panel.Endings,
		39: panel.BackendUp, 40: panel.BackendWatched, 41: panel.BackendFree, 42: panel.BackendLocks, 43: panel.BackendTimeline,
		44: panel.BackendVacancies, 45: panel.BackendHandover, 46: panel.BackendTerms, 47: panel.BackendRenewAge, 48: panel.BackendPolling,
		49: panel.BackendImpostors, 50: panel.BackendReporters, 51: panel.FencingChecks,
	}
	for id, name := range numbered(t) {
		if id >= len(ids) || ids[id] == 0 {
			t.Errorf("panel.%s is new: add \"%d: panel.%s\" to the list of this test, so that its number stays", name, id, name)
		}
	}
	for want, got := range ids {
		if want != got && got != 0 {
			t.Errorf("panel %d is %d now", want, got)
		}
	}
}
