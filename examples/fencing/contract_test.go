//go:build integration && unix

package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/examples/internal/stage/stagetest"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

func TestMain(m *testing.M) { stagetest.Main(m, main) }

func newTestDirector(t *testing.T) *director {
	t.Helper()
	d, err := newDirector()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d *director) mustStart(t *testing.T, name string) *actor {
	t.Helper()
	a, err := d.start(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func mustAwait(t *testing.T, a *actor, what string, is func(event) bool) event {
	t.Helper()
	e, err := a.await(t.Context(), 0, what, is)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func mustScrape(t *testing.T, a *actor) stage.Metrics {
	t.Helper()
	shown, err := a.Metrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

// stopAll ends all work and holds what every node exposes then to what it
// counted, unless it has agreed before, and the ledger to what all of them
// did. Of a node that was killed the last write may have been made without its
// knowing.
func (d *director) stopAll(t *testing.T, agreed ...*actor) {
	t.Helper()
	var written, open float64
	for _, a := range d.nodes {
		switch {
		case a.Gone():
			open++
		case !slices.Contains(agreed, a):
			agree(t, a)
		}
		written += number(wrote)(a.history())
		open += number(unsure)(a.history())
	}
	entries, err := d.ledger.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := violations(entries); n != 0 {
		t.Errorf("%d entries of a term after those of a later: %v", n, entries)
	}
	if n := float64(len(entries)); n < written || n > written+open {
		t.Errorf("%v entries, the nodes wrote %v and do not know of %v", n, written, open)
	}
}

// agree ends a node's work and compares its metrics with what it counted and
// told.
func agree(t *testing.T, a *actor) {
	t.Helper()
	var counts map[string]stage.Count
	shown := stagetest.Drain(t, a.Node, &counts)
	stagetest.Agrees(t, a.Node, shown, counts)
	told := a.history()
	for metric, want := range map[*catalog.Metric]float64{
		catalog.Acquired: number(leads)(told), catalog.TermsEnded: number(termEnded)(told), catalog.ExecutionDuration: number(termEnded)(told),
		catalog.ExecutionFailures: number(refused)(told), catalog.FencingToken: token(told), catalog.FencingTokenRegressions: 0,
		catalog.FencingChecks: number(wrote)(told) + number(refused)(told),
	} {
		if got := shown.Of(metric.Name()); got != want {
			t.Errorf("%s: %s is %v, told %v", a.Name, metric.Name(), got, want)
		}
	}
}

func TestTheStaleWriteOfALeaderThatWasSuspendedIsRefused_C05_C16(t *testing.T) {
	d := newTestDirector(t)
	paused, other, err := d.suspendAndResume(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shown := mustScrape(t, paused)
	stale := mustAwait(t, paused, "a refusal", of(refused))
	ended := mustAwait(t, paused, "the end of the term", of(termEnded))
	times := number(refused)(paused.history())
	if later := uint64(token(other.history())); stale.Token >= later || times != 1 {
		t.Errorf("token %d was refused %v times, the other has %d", stale.Token, times, later)
	}
	if got := shown.Of(catalog.WorkAfterLoss.Name()); got < stale.Late || got > ended.Late || stale.Late <= 0 {
		t.Errorf("%v s of work after loss, want between %v and %v", got, stale.Late, ended.Late)
	}
	for metric, want := range map[*catalog.Metric]float64{
		catalog.Active: 0, catalog.Running: 0, catalog.TermsEnded: 1, catalog.LeaseOverruns: 1, catalog.ExecutionFailures: 1,
	} {
		if got := shown.Of(metric.Name()); got != want {
			t.Errorf("suspended: %s is %v, want %v", metric.Name(), got, want)
		}
	}
	if released := shown.Of(catalog.TermsEnded.Name(), "cause", "released"); released != 0 {
		t.Error("the lost term counts as released")
	}
	d.stopAll(t)
}

func TestAKilledLeaderIsFollowedUnderAHigherToken(t *testing.T) {
	d := newTestDirector(t)
	killed := d.mustStart(t, "node-1")
	mustAwait(t, killed, "the second entry", entry2)
	other := d.mustStart(t, "node-2")
	killed.Kill()
	mustAwait(t, other, "the second entry", entry2)
	if before, after := token(killed.history()), token(other.history()); after <= before {
		t.Errorf("token %v follows %v", after, before)
	}
	again := d.mustStart(t, "node-1")
	agree(t, other)
	mustAwait(t, again, "the second entry", entry2)
	d.stopAll(t, other)
}

func TestTheLedgerStaysInTurnWhenEtcdRestarts(t *testing.T) {
	d := newTestDirector(t)
	writes := func(e event) bool { return e.Kind == wrote }
	one := d.mustStart(t, "node-1")
	mustAwait(t, one, "an entry", writes)
	two := d.mustStart(t, "node-2")
	before := len(one.history())
	d.server.Down()
	if err := d.server.Up(); err != nil {
		t.Fatal(err)
	}
	anyone := make(chan error, 2)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for a, first := range map[*actor]int{one: before, two: 0} {
		go func() {
			_, err := a.await(ctx, first, "an entry after the restart", writes)
			anyone <- err
		}()
	}
	if err := <-anyone; err != nil {
		t.Fatal(err)
	}
	cancel()
	d.stopAll(t)
}

func TestTheShow(t *testing.T) {
	printed := stagetest.Show(t)
	stagetest.LikeItsREADME(t, printed)
	for _, want := range []string{"node-1 is continued", "was refused", "0 of them out of turn", "1 (1)"} {
		if !strings.Contains(printed, want) {
			t.Errorf("%q is missing from\n%s", want, printed)
		}
	}
}

// A node stands still when it is interrupted.
func TestAnInterruptedShowLeavesNothing(t *testing.T) { stagetest.Interrupt(t, "suspended:") }
