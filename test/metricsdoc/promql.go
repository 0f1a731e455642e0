package main

import (
	"fmt"
	"strings"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// starts are expressions to start from; NAME stands for the metric's own name.
var starts = map[*catalog.Metric]string{
	catalog.Attempts:                perSecond(),
	catalog.Acquired:                inTheLastHour(),
	catalog.NotAcquired:             perSecond("reason"),
	catalog.Active:                  newest("max"),
	catalog.Running:                 newest("sum"),
	catalog.Pending:                 newest("sum"),
	catalog.PendingAge:              newest("max"),
	catalog.AcquireDuration:         quantile(0.95),
	catalog.ExecutionDuration:       quantile(0.95),
	catalog.ExecutionFailures:       inTheLastHour("cause"),
	catalog.WorkAfterLoss:           inTheLastHour() + " > 0",
	catalog.TermsEnded:              inTheLastHour("cause"),
	catalog.Releases:                inTheLastHour("result"),
	catalog.Renewals:                `sum by (lock_name) (rate(NAME{result!="ok"}[5m])) / sum by (lock_name) (rate(NAME[5m]))`,
	catalog.RenewalDuration:         quantile(0.99),
	catalog.LeaseHeadroom:           newest("min"),
	catalog.LeaseExpiry:             "count by (lock_name) (NAME > time())",
	catalog.LeaseDuration:           newest("max"),
	catalog.LeaseUsageRatio:         fmt.Sprintf(`1 - sum by (lock_name) (rate(NAME_bucket{le="%v"}[1h])) / sum by (lock_name) (rate(NAME_count[1h]))`, catalog.NearLeaseBound),
	catalog.LeaseOverruns:           inTheLastHour() + " > 0",
	catalog.LastAcquired:            "time() - max by (lock_name) (NAME)",
	catalog.LastEnded:               "time() - max by (lock_name) (NAME)",
	catalog.ExpectedInterval:        "time() - max by (lock_name) (" + catalog.LastAcquired.Name() + ") > 2 * max by (lock_name) (NAME)",
	catalog.MaxLeaders:              "sum by (lock_name) (" + catalog.Active.Name() + ") > max by (lock_name) (NAME)",
	catalog.FencingToken:            newest("max"),
	catalog.FencingTokenRegressions: inTheLastHour() + " > 0",
	catalog.FencingChecks:           inTheLastHour("result"),
	catalog.FencingHighestToken:     newest("max"),
	catalog.ElectorInfo:             "max by (lock_name, family, backend) (NAME) * on (lock_name) group_left () max by (lock_name) (" + catalog.Active.Name() + ")",
	catalog.IdentityInfo:            "max by (lock_name, holder) (" + catalog.BackendHolderInfo.Name() + ") unless on (lock_name, holder) max by (lock_name, holder) (NAME)",
	catalog.BackendHeld:             "max by (lock_name, backend) (NAME)",
	catalog.BackendHolderInfo:       "max by (lock_name, backend, holder) (NAME)",
	catalog.BackendLeaseExpiry:      "max by (lock_name, backend) (NAME) - time()",
	catalog.BackendLeaseDuration:    "max by (lock_name, backend) (NAME)",
	catalog.BackendTerms:            "max by (lock_name, backend) (increase(NAME[1h]))",
	catalog.BackendVacant:           "max by (lock_name, backend) (increase(NAME[1h]))",
	catalog.BackendHandover:         "histogram_quantile(0.95, sum by (lock_name, backend, le) (rate(NAME_bucket[1d])))",
	catalog.BackendToken:            "max by (lock_name, backend) (NAME)",
	catalog.BackendLastEvent:        "time() - max by (lock_name, backend) (NAME)",
	catalog.BackendUp:               "max by (backend) (NAME) == 0",
	catalog.BackendPollInterval:     "max by (backend) (NAME)",
	catalog.RedactionInfo:           "count(count by (policy, key_id, key_check) (NAME)) > 1",
	catalog.RedactionOverflows:      "sum(increase(NAME[1h])) > 0",
	catalog.TelemetryFaults:         "sum(increase(NAME[1h])) > 0",
}

func by(labels []string) string {
	return strings.Join(append([]string{catalog.LockName.Name()}, labels...), ", ")
}

func perSecond(labels ...string) string {
	return fmt.Sprintf("sum by (%s) (rate(NAME[5m]))", by(labels))
}

func inTheLastHour(labels ...string) string {
	return fmt.Sprintf("sum by (%s) (increase(NAME[1h]))", by(labels))
}

func newest(aggregation string) string {
	return fmt.Sprintf("%s by (%s) (NAME)", aggregation, by(nil))
}

func quantile(q float64) string {
	return fmt.Sprintf("histogram_quantile(%v, sum by (%s) (rate(NAME_bucket[5m])))", q, by([]string{"le"}))
}

// start is the expression to start from.
func start(m *catalog.Metric) string { return strings.ReplaceAll(starts[m], "NAME", m.Name()) }
