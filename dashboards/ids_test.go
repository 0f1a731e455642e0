package dashboards

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/internal/panel"
)

func TestEveryPanelHasTheIdThatAlertsLinkTo(t *testing.T) {
	want := map[string][]int{
		"overview": {
			panel.Alerts, panel.Leaderless, panel.Crowded, panel.NearLease, panel.BackendTrouble, panel.Unprotected, panel.Unseen, panel.Leaders, panel.Locks,
			panel.HolderTimeline, panel.Holders, panel.Transitions,
			panel.Outcomes, panel.BackendErrors, panel.Waiting,
			panel.Headroom, panel.LeaseUsage, panel.Overruns, panel.Renewals,
			panel.Execution, panel.Failures, panel.WorkAfterLoss,
			panel.Instrumentation,
		},
		"lock": {
			panel.Alerts, panel.Holder, panel.State, panel.LeaseLeft, panel.LastAcquired, panel.Declared, panel.Replicas,
			panel.HolderTimeline, panel.Endings, panel.AlertTimeline, panel.Scraped, panel.Transitions, panel.FencingToken, panel.FencingChecks, panel.Failover,
			panel.Outcomes, panel.BackendErrors, panel.Waiting, panel.AcquireDuration,
			panel.Headroom, panel.LeaseUsage, panel.Overruns, panel.Renewals, panel.RenewalDuration,
			panel.Execution, panel.Cadence, panel.Working, panel.Failures, panel.WorkAfterLoss,
			panel.Instrumentation,
		},
		"backends": {
			panel.Alerts, panel.BackendFree, panel.BackendWatched, panel.BackendImpostors, panel.BackendUp, panel.BackendPolling, panel.BackendLocks,
			panel.BackendTimeline, panel.BackendVacancies, panel.BackendTerms, panel.BackendHandover, panel.BackendRenewAge,
			panel.BackendReporters,
		},
	}
	eachBoard(t, func(t *testing.T, name string, _ Config, out []byte) {
		var got []int
		for _, p := range decoded(t, out).Panels {
			if p.Type != "row" {
				got = append(got, p.ID)
			}
		}
		if diff := cmp.Diff(want[name], got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
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
	for want, got := range ids {
		if want != got && got != 0 {
			t.Errorf("panel %d is %d now", want, got)
		}
	}
}
