// Package scenario is the table of event sequences that prove the rules: the samples
// that Prometheus scrapes, and the alerts that must fire. Tests of the rules, unit
// tests for the tools of the engines and tests of the dashboards use the same table.
package scenario

import (
	"slices"
	"strings"
	"time"
)

// Scenario is an event sequence and the alerts that must fire with the default
// configuration.
//
// Ids: A no acquisition, B no leader, S split brain, D flapping, E backend
// errors, F renewals, G and L lease, H headroom, W work after loss, J jobs, T
// tasks, K tokens, Z fenced stores, N standbys, P attempts in flight, Q overlaps, X
// vacancies, I impostors, Y blind observers, M metrics, V locks that vanish, U
// targets, R redaction, O overflow; C and two digits is a case from practice. Each
// letter has a meaning now, so the next alert has two letters, such as TL.
type Scenario struct {
	ID, Name string
	// Every is the time between samples; End is the last evaluation.
	Every, End time.Duration
	// Load has a series a line, in the notation of promtool. Every series gets
	// job="a", and those of locks lock_name="x", where it does not say otherwise.
	Load string
	// Want has a firing alert a line with the value that it fires with, as in
	// "SplitBrain/critical 7m..10m = 2"; the end is left out where it fires at
	// the last evaluation. Empty: silence. It is about the default
	// configuration, or one that reads native histograms too.
	Want string
	// Extrapolated: the time of the verdict rests on how far increase reaches
	// back before a first sample, which releases do differently. Only the tests
	// of this module run such a scenario, and the newest promtool.
	Extrapolated bool
	// Native: there are native histograms, which rules read if the
	// configuration says so, and for which the promtool of Prometheus 2.42 has
	// no notation. Such a scenario is run like one that is extrapolated.
	Native bool
	// Alone: nothing else exports metrics. Otherwise another job does, so that
	// metrics are not absent from the server.
	Alone bool
	// Raised is added to counters that exist from the start.
	Raised float64
	// Limit says what the rules cannot distinguish; the scenario records the result.
	Limit string
}

// Title identifies a scenario.
func (s Scenario) Title() string { return s.ID + " " + s.Name }

// Letters is what the id begins with: that of the alert, or C for a case.
func (s Scenario) Letters() string { return strings.TrimRight(s.ID, "0123456789") }

// Step is the time between evaluations in every scenario.
const Step = 15 * time.Second

// All returns the table, in the order of the alerts in the outline.
func All() []Scenario {
	return slices.Concat(acquisitionScenarios(), leaderScenarios(), splitScenarios(),
		flappingScenarios(), backendScenarios(), renewalScenarios(), leaseScenarios(), headroomScenarios(), lossScenarios(),
		jobScenarios(), taskScenarios(), tokenScenarios(), fencingScenarios(), absenceScenarios(), vanishedScenarios(), targetScenarios(),
		redactionScenarios(), overflowScenarios(), absentLeaderScenarios(), crowdScenarios(), briefScenarios(), standbyScenarios(), boundScenarios(), edgeScenarios(), overlapScenarios(), viewScenarios(), qualityScenarios(), excuseScenarios())
}

// Series that say how a lock is used; they outlast every scenario.
const (
	held = `
		leader_elector_info{mode="hold",backend="etcd",family="orders"} 1x700
		leader_max_leaders 1x700
	`
	// A standby that is a witness of a leader which is last seen after 4m30s.
	witnessed = `
		leader_active{instance="i1"} 1x9 stale
		leader_last_acquired_timestamp_seconds{instance="i1"} -60x9 stale
		leader_identity_info{instance="i1",holder="h1"} 1x9 stale
		leader_identity_info{instance="i2",holder="h2"} 1x100
		leader_active{instance="i2"} 0x100
	`
	ran = `
		leader_elector_info{mode="run",backend="redis",family="orders"} 1x700
		leader_max_leaders 1x700
	`
)
