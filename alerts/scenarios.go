package alerts

import (
	"slices"
	"strings"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/promeval"
)

// scenario is a course of events and the alerts that it must cause, with the
// default configuration. Tests and [PromtoolTests] read the same table.
//
// Ids: A no acquisition, B no leader, S split brain, D flapping, E backend
// errors, G lease, W work after loss; C and two digits is a case reported from
// the field.
type scenario struct {
	id, name string
	// every is the time between samples; end is the last evaluation.
	every, end time.Duration
	// load has a series a line, in the notation of promtool. Series of locks
	// get job="a" and lock_name="x" where they do not say otherwise, other
	// series get job="a".
	load string
	// want has a firing alert a line, as in "NoLeader/critical 7m..10m"; the
	// end is left out where it fires at the last evaluation. Empty: silence.
	want string
	// limit says what the rules cannot tell apart; the scenario pins it.
	limit string
}

// evaluationStep is the time between evaluations in every scenario.
const evaluationStep = 15 * time.Second

// scenarios returns the table, in the order of the alerts in the outline.
func scenarios() []scenario {
	return slices.Concat(acquisitionScenarios(), leaderScenarios(), splitScenarios(),
		flappingScenarios(), backendScenarios(), leaseScenarios(), lossScenarios())
}

// Series that say how a lock is used; they outlast every scenario.
const (
	held = `
		leader_elector_info{mode="hold",backend="etcd",family="orders"} 1x700
		leader_max_leaders 1x700
	`
	ran = `
		leader_elector_info{mode="run",backend="redis",family="orders"} 1x700
		leader_max_leaders 1x700
	`
)

// series reads the lines of load.
func (s scenario) series() []promeval.Series {
	var out []promeval.Series
	for line := range strings.Lines(s.load) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		end := strings.IndexByte(line, ' ')
		if i := strings.Index(line, "} "); i >= 0 {
			end = i + 1
		}
		out = append(out, promeval.Series{Selector: withDefaults(line[:end]), Values: strings.TrimSpace(line[end:])})
	}
	return out
}

func withDefaults(selector string) string {
	name, own, _ := strings.Cut(strings.TrimSuffix(selector, "}"), "{")
	var all []string
	if own != "" {
		all = append(all, own)
	}
	add := func(label, value string) {
		if !strings.HasPrefix(own, label+"=") && !strings.Contains(own, ","+label+"=") {
			all = append(all, label+`="`+value+`"`)
		}
	}
	add("job", "a")
	if m, known := catalog.ByName(name); known && m.PerLock {
		add(catalog.LockName.Name, "x")
	}
	return name + "{" + strings.Join(all, ",") + "}"
}
