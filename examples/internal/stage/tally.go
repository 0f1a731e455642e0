//go:build unix

package stage

import (
	"fmt"
	"sync"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Tally is what a node counts itself, beside the middleware, by lock label.
// Its zero value is ready; it is safe for concurrent use.
type Tally struct {
	mu sync.Mutex
	of map[string]Count
}

// Count is what was counted of one lock.
type Count struct {
	// Runs were started under the lock; Failures are those of them that
	// failed; NotAcquired are attempts that did not get the lock.
	Runs, Failures, NotAcquired int
}

// Ran counts a run.
func (t *Tally) Ran(label string, failed bool) {
	t.add(label, func(c *Count) {
		c.Runs++
		if failed {
			c.Failures++
		}
	})
}

// Missed counts an attempt that did not get the lock.
func (t *Tally) Missed(label string) { t.add(label, func(c *Count) { c.NotAcquired++ }) }

// Forget drops a label.
func (t *Tally) Forget(label string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.of, label)
}

// Counts returns what was counted, by label.
func (t *Tally) Counts() map[string]Count {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := map[string]Count{}
	for label, c := range t.of {
		all[label] = c
	}
	return all
}

func (t *Tally) add(label string, change func(*Count)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[string]Count{}
	}
	c := t.of[label]
	change(&c)
	t.of[label] = c
}

// Disagreements says where metrics differ from what the node counted itself;
// none is expected. Labels that only one of them knows differ too.
func Disagreements(m Metrics, counts map[string]Count) []string {
	labels := map[string]bool{}
	for label := range counts {
		labels[label] = true
	}
	for _, s := range m.Select(catalog.Attempts.Name()) {
		labels[s.Labels[catalog.LockName.Name()]] = true
	}
	var wrong []string
	for label := range labels {
		c := counts[label]
		for _, pair := range []struct {
			metric  *catalog.Metric
			counted int
		}{
			{catalog.Attempts, c.Runs + c.NotAcquired},
			{catalog.Acquired, c.Runs},
			{catalog.NotAcquired, c.NotAcquired},
			{catalog.ExecutionFailures, c.Failures},
			{catalog.TermsEnded, c.Runs},
			{catalog.Active, 0}, {catalog.Running, 0}, {catalog.Pending, 0},
		} {
			if shown := m.Of(pair.metric.Name(), catalog.LockName.Name(), label); shown != float64(pair.counted) {
				wrong = append(wrong, fmt.Sprintf("%s of %s is %v, counted were %d", pair.metric.Name(), label, shown, pair.counted))
			}
		}
	}
	return wrong
}
