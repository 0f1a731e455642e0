package dynamolocklead

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhichRefusedAttemptsWatchTheLock(t *testing.T) {
	const lease = time.Minute
	type step struct {
		after time.Duration
		do    string // refuse, watched or win
		watch bool   // the attempt does
	}
	// inVain are attempts that watch in vain, each so many leases after the last.
	inVain := func(leases ...time.Duration) (steps []step) {
		for _, n := range leases {
			steps = append(steps, step{n * lease, "refuse", false}, step{1, "refuse", true}, step{0, "watched", false})
		}
		return steps
	}
	first := []step{{0, "refuse", false}}
	for name, steps := range map[string][]step{
		"one that is refused for longer than a lease": {{0, "refuse", false}, {lease, "refuse", false}, {1, "refuse", true}},
		"one at a time": {{0, "refuse", false}, {lease + 1, "refuse", true}, {9 * lease, "refuse", false}},
		"more and more seldom, and at least every 16 leases": slices.Concat(first, inVain(1, 2, 4, 8, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16)),
		"a win begins again":           slices.Concat(first, inVain(1, 2, 4), []step{{0, "win", false}, {lease, "refuse", false}}, inVain(1, 2)),
		"a win while another watches":  {{0, "refuse", false}, {lease + 1, "refuse", true}, {0, "win", false}, {0, "refuse", false}, {lease + 1, "refuse", true}},
		"a win before any was refused": {{0, "win", false}, {9 * lease, "refuse", false}, {lease + 1, "refuse", true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r refusals
				for i, step := range steps {
					time.Sleep(step.after)
					watch := false
					switch step.do {
					case "refuse":
						watch = r.last(lease)
					case "watched":
						r.watched()
					case "win":
						r.forget()
					}
					if watch != step.watch {
						t.Fatalf("step %d, %v: watches: %v", i, step, watch)
					}
				}
			})
		})
	}
}
