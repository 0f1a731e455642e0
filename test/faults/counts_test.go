//go:build integration

package faults

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// counts are the counters of each replica that only a fault moves. Attempts,
// wins and good renewals also grow without one, and a renewal may be late on a
// loaded machine.
type counts map[*process]electtest.Series

func endedBy(c catalog.EndCause) string           { return of(catalog.TermsEnded, c.String()) }
func releasedWith(r catalog.ReleaseResult) string { return of(catalog.Releases, r.String()) }
func renewedWith(r catalog.RenewalResult) string  { return of(catalog.Renewals, r.String()) }

// rare names the counters of counts.
var rare = func() (names []string) {
	for c := range catalog.EndCauses {
		names = append(names, endedBy(catalog.EndCause(c)))
	}
	for r := range catalog.ReleaseResults {
		names = append(names, releasedWith(catalog.ReleaseResult(r)))
	}
	for _, r := range []catalog.RenewalResult{catalog.RenewalCanceled, catalog.RenewalLost} {
		names = append(names, renewedWith(r))
	}
	for _, r := range []catalog.Reason{catalog.AlreadyHeld, catalog.SessionLost, catalog.BackendError, catalog.Panicked, catalog.UnknownReason} {
		names = append(names, of(catalog.NotAcquired, r.String()))
	}
	for c := range catalog.FailureCauses {
		names = append(names, of(catalog.ExecutionFailures, catalog.FailureCause(c).String()))
	}
	return append(names, of(catalog.LeaseOverruns), of(catalog.FencingTokenRegressions))
}()

func rareOf(s electtest.Series) electtest.Series {
	kept := electtest.Series{}
	for _, name := range rare {
		kept[name] = s[name] // 0 where it is absent
	}
	return kept
}

func (c *cluster) counted() counts {
	all := counts{}
	for _, p := range c.all {
		all[p] = rareOf(p.now().Series)
	}
	return all
}

// calm counts when a whole lease has passed without a change: what a fault
// before this one leaves behind, such as a request that fails late, is over.
func (c *cluster) calm(t *testing.T) counts {
	t.Helper()
	last, since := c.counted(), time.Now()
	for deadline := since.Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if got := c.counted(); differs(got, last) != "" {
			last, since = got, time.Now()
		} else if time.Since(since) > c.ttl() {
			return last
		}
	}
	t.Fatalf("the counters did not come to rest within %v", patience)
	return nil
}

// with is a copy in which the counters of p have grown by that much.
func (n counts) with(p *process, growth electtest.Series) counts {
	n = maps.Clone(n)
	n[p] = maps.Clone(n[p])
	for name, by := range growth {
		n[p][name] += by
	}
	return n
}

// without is a copy in which that counter of every replica is as in other.
func (n counts) without(name string, other counts) counts {
	n = maps.Clone(n)
	for p := range n {
		n[p] = n[p].With(electtest.Series{name: other[p][name]})
	}
	return n
}

// differs lists the counters that are not as wanted.
func differs(got, want counts) string {
	var lines []string
	for p, series := range want {
		lines = append(lines, difference(p.id, got[p], series)...)
	}
	return strings.Join(lines, ", ")
}

func difference(id string, got, want electtest.Series) (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			lines = append(lines, fmt.Sprintf("%s: %s is %v, want %v", id, name, got[name], want[name]))
		}
	}
	return lines
}

// settles waits until every counter is as in one of these, and is still so a
// second later.
func (c *cluster) settles(t *testing.T, what string, want func(got counts) []counts) {
	t.Helper()
	var wrong string
	match := func() bool {
		got := c.counted()
		for _, w := range want(got) {
			if wrong = differs(got, w); wrong == "" {
				return true
			}
		}
		return false
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if !match() {
			continue
		}
		time.Sleep(time.Second)
		if !match() {
			t.Errorf("%s, and a second later %s", what, wrong)
		}
		return
	}
	t.Errorf("%s: not within %v: %s", what, patience, wrong)
}
