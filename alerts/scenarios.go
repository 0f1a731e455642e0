package alerts

import (
	"slices"
	"time"
)

// scenario is a course of events and the alerts that it must cause, with the
// default configuration. Tests and [PromtoolTests] read the same table.
//
// Ids: A no acquisition, B no leader, S split brain, D flapping, E backend
// errors, F renewals, G and L lease, H headroom, W work after loss, J jobs, T
// tasks, K tokens, N standbys, P attempts in flight, Q overlaps, M metrics, V locks that
// vanish, U targets, R redaction, O overflow; C and two digits is a case
// reported from the field.
type scenario struct {
	id, name string
	// every is the time between samples; end is the last evaluation.
	every, end time.Duration
	// load has a series a line, in the notation of promtool. Every series gets
	// job="a", and those of locks lock_name="x", where it does not say otherwise.
	load string
	// want has a firing alert a line with the value that it fires with, as in
	// "SplitBrain/critical 7m..10m = 2"; the end is left out where it fires at
	// the last evaluation. Empty: silence. It is about the default
	// configuration, or one that reads native histograms too.
	want string
	// extrapolated: the time of the verdict rests on how far increase reaches
	// back before a first sample, which releases do differently. Only the tests
	// of this module run such a scenario, and the newest promtool.
	extrapolated bool
	// native: there are native histograms, which rules read if the
	// configuration says so, and for which the promtool of Prometheus 2.42 has
	// no notation. Such a scenario is run like one that is extrapolated.
	native bool
	// alone: nothing else exports metrics. Otherwise another job does, so that
	// metrics are not absent from the server.
	alone bool
	// raised is added to counters that are there from the beginning.
	raised float64
	// limit says what the rules cannot tell apart; the scenario pins it.
	limit string
}

// config is the default, or what reads native histograms too.
func (s scenario) config() Config {
	c := Default()
	if s.native {
		c.Histograms = Both
	}
	return c
}

// evaluationStep is the time between evaluations in every scenario.
const evaluationStep = 15 * time.Second

// scenarios returns the table, in the order of the alerts in the outline.
func scenarios() []scenario {
	return slices.Concat(acquisitionScenarios(), leaderScenarios(), splitScenarios(),
		flappingScenarios(), backendScenarios(), renewalScenarios(), leaseScenarios(), headroomScenarios(), lossScenarios(),
		jobScenarios(), taskScenarios(), tokenScenarios(), absenceScenarios(), vanishedScenarios(), targetScenarios(),
		redactionScenarios(), overflowScenarios(), absentLeaderScenarios(), crowdScenarios(), briefScenarios(), standbyScenarios(), boundScenarios(), edgeScenarios(), overlapScenarios())
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
