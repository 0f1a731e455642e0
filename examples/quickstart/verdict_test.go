package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	noLeader   = alarm{"LeaderElectionNoLeader", "critical", "a"}
	nearLease  = alarm{"LeaderElectionNearLease", "warning", "b"}
	splitBrain = alarm{"LeaderElectionSplitBrain", "critical", "a"}
)

func TestVerdictIsRightOnlyWhenExactlyTheExpectedFired(t *testing.T) {
	type alarms = []alarm
	for name, c := range map[string]struct {
		v                verdict
		missing, surplus alarms
		ok               bool
	}{
		"nothing expected, nothing fired":   {v: verdict{}, ok: true},
		"all that was expected, any order":  {v: verdict{expected: alarms{noLeader, nearLease}, fired: alarms{nearLease, noLeader}}, ok: true},
		"one did not fire":                  {v: verdict{expected: alarms{noLeader, nearLease}, fired: alarms{nearLease}}, missing: alarms{noLeader}},
		"one fired too many":                {v: verdict{expected: alarms{noLeader}, fired: alarms{noLeader, splitBrain}}, surplus: alarms{splitBrain}},
		"one instead of another":            {v: verdict{expected: alarms{noLeader}, fired: alarms{splitBrain}}, missing: alarms{noLeader}, surplus: alarms{splitBrain}},
		"the same alert with less severity": {v: verdict{expected: alarms{noLeader}, fired: alarms{{noLeader.Name, "warning", "a"}}}, missing: alarms{noLeader}, surplus: alarms{{noLeader.Name, "warning", "a"}}},
		"the same alert of another lock":    {v: verdict{expected: alarms{noLeader}, fired: alarms{{noLeader.Name, "critical", "b"}}}, missing: alarms{noLeader}, surplus: alarms{{noLeader.Name, "critical", "b"}}},
		"something else was wrong":          {v: verdict{failed: []string{"the gauge was 1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.v.ok(); got != c.ok {
				t.Errorf("ok is %v", got)
			}
			if diff := cmp.Diff([2]int{len(c.missing), len(c.surplus)}, [2]int{len(c.v.missing()), len(c.v.surplus())}); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(append(c.missing, c.surplus...), append(c.v.missing(), c.v.surplus()...)); diff != "" && !c.ok && len(c.v.failed) == 0 {
				t.Error(diff)
			}
		})
	}
}

func TestAlarmsAreDescribedByLock(t *testing.T) {
	names := locks{"a": "leader", "b": "job"}
	all := sorted(map[alarm]bool{noLeader: true, nearLease: true, splitBrain: true})
	if got, want := names.describe(all), "job: NearLease (warning); leader: NoLeader (critical), SplitBrain (critical)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := names.describe(nil); got != "nothing" {
		t.Errorf("got %q for no alarm", got)
	}
}
