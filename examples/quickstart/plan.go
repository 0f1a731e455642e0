package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// usualPhases are those that are played without --phases: about three minutes.
const usualPhases = "1,2,3,4,5,6,7,8,9"

// step is a phase that is played, with its number.
type step struct {
	number int
	phase
}

// plan returns the steps for the chosen phases in the order of their numbers.
// Each phase leaves healthy replicas to the next, whichever that is; only a
// recovery begins with a fault, and it follows the phase that leaves it.
func plan(phases []phase, chosen map[int]bool) (steps []step) {
	for i, p := range phases {
		if !chosen[i+1] {
			continue
		}
		recovered := i+1 < len(phases) && phases[i+1].recovery && chosen[i+2]
		if p.cure == nil && !recovered {
			p.cure = p.otherwise
		}
		steps = append(steps, step{i + 1, p})
	}
	return steps
}

// choose reads the numbers of phases, in any order. It adds the phase that a
// recovery recovers from.
func choose(list string) (map[int]bool, error) {
	phases := script("", "")
	chosen := map[int]bool{}
	if strings.TrimSpace(list) == "all" {
		for i := range phases {
			chosen[i+1] = true
		}
		return chosen, nil
	}
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > len(phases) {
			return nil, fmt.Errorf("--phases: unknown phase %q; use numbers from 1 to %d with commas between them, or all", word, len(phases))
		}
		chosen[n] = true
		if phases[n-1].recovery {
			chosen[n-1] = true
		}
	}
	return chosen, nil
}

// phasesHelp is the text of the flag, with every phase.
func phasesHelp() string {
	var b strings.Builder
	b.WriteString("the `numbers` of the phases to play, in any combination, or all; 10 to 12 are played on request only:\n")
	for i, p := range script("", "") {
		fmt.Fprintf(&b, "%3d  %s\n", i+1, p.title)
	}
	b.WriteString("8 is the recovery from 7, which is then played too; the default is")
	return b.String()
}

// estimate is how long the phases take on a machine with little load.
func estimate(steps []step) string {
	var total time.Duration
	for _, s := range steps {
		total += s.takes
	}
	if minutes := int(total.Round(time.Minute) / time.Minute); minutes > 1 {
		return fmt.Sprintf("%d minutes", minutes)
	}
	return "a minute"
}

// settled waits until the backend errors of former phases have left the window
// in which an alert counts them: a few more would exceed its threshold.
func (d *demo) settled(ctx context.Context) error {
	reason, _ := catalog.NotAcquired.Label("reason")
	errors := fmt.Sprintf("sum(increase(%s{%s=%q}[%s])) > 0", catalog.NotAcquired.Name(), reason.Name(), catalog.BackendError, demoAlerts().Alerts.BackendErrors.Window)
	return until(ctx, "the backend errors of former phases to leave the window", patience, func() (bool, error) {
		recent, err := d.observer.query(ctx, errors)
		return len(recent) == 0, err
	})
}
