//go:build integration && unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

func newTestStage(t *testing.T) *stage {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	s, err := newStage(func(name string, e event) { t.Log(name, e.Kind, e.Token, e.Number, e.Text) })
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
		for _, p := range s.nodes {
			if !p.gone() {
				t.Errorf("%s still runs", p.name)
			}
		}
		nothingLeft(t)
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (p *process) gone() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func nothingLeft(t *testing.T) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "leaderscope-fencing-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func (s *stage) mustStart(t *testing.T, name string) *process {
	t.Helper()
	p, err := s.start(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustAwait(t *testing.T, p *process, first int, what string, is func(event) bool) event {
	t.Helper()
	e, err := p.awaitAfter(t.Context(), first, what, is)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func mustScrape(t *testing.T, p *process) series {
	t.Helper()
	shown, err := scrape(t.Context(), p.metrics)
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

// stopAll ends all work and holds what every node exposes then to what it
// counted, and the ledger to what all of them did. Of a node that was killed
// the last write may have been made without its knowing.
func (s *stage) stopAll(t *testing.T, killed ...*process) {
	t.Helper()
	written, open := 0, 0
	for _, p := range killed {
		said, _ := p.history()
		written += last(said).Count.Written
		open += last(said).Count.Failed + 1
	}
	for _, p := range s.nodes {
		if p.gone() {
			continue
		}
		e, err := p.stop(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		agree(t, p, e.Count)
		written += e.Count.Written
		open += e.Count.Failed
	}
	entries, err := s.ledger.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := violations(entries); n != 0 {
		t.Errorf("%d entries of a term after those of a later: %v", n, entries)
	}
	if n := len(entries); n < written || n > written+open {
		t.Errorf("%d entries, the nodes wrote %d and do not know of %d", n, written, open)
	}
}

// agree compares the metrics of a node that has stopped with what it counted.
func agree(t *testing.T, p *process, counted count) {
	t.Helper()
	said, _ := p.history()
	shown := mustScrape(t, p)
	terms := float64(counted.Terms)
	for metric, want := range map[*catalog.Metric]float64{
		catalog.Acquired: terms, catalog.TermsEnded: terms, catalog.ExecutionDuration: terms,
		catalog.ExecutionFailures: float64(counted.Refused), catalog.FencingTokenRegressions: 0,
		catalog.Active: 0, catalog.Running: 0, catalog.Pending: 0,
		catalog.Attempts: shown.sum(catalog.Acquired) + shown.sum(catalog.NotAcquired),
	} {
		if got := shown.sum(metric); got != want {
			t.Errorf("%s: %s is %v, counted %v", p.name, metric.Name, got, want)
		}
	}
	if got, want := shown.sum(catalog.FencingToken), token(said); got != want {
		t.Errorf("%s: token %v, its last term had %v", p.name, got, want)
	}
	if n := number(said, over); n != counted.Terms {
		t.Errorf("%s: %d terms, %d of them over", p.name, counted.Terms, n)
	}
}

func TestTheStaleWriteOfALeaderThatWasSuspendedIsRefused_C05_C16(t *testing.T) {
	s := newTestStage(t)
	paused, other, err := s.suspendAndResume(t.Context(), func(text string) { t.Log(text) })
	if err != nil {
		t.Fatal(err)
	}
	shown := mustScrape(t, paused)
	stale := mustAwait(t, paused, 0, "a refusal", of(refused))
	ended := mustAwait(t, paused, 0, "the end of its term", of(over))
	said, _ := other.history()
	if later := uint64(token(said)); stale.Token >= later || stale.Count.Refused != 1 {
		t.Errorf("token %d was refused %d times, the other has %d", stale.Token, stale.Count.Refused, later)
	}
	if got := shown.sum(catalog.WorkAfterLoss); got < stale.Late || got > ended.Late || stale.Late <= 0 {
		t.Errorf("%v s of work after loss, want between %v and %v", got, stale.Late, ended.Late)
	}
	for metric, want := range map[*catalog.Metric]float64{
		catalog.Active: 0, catalog.Running: 0, catalog.TermsEnded: 1, catalog.LeaseOverruns: 1, catalog.ExecutionFailures: 1,
	} {
		if got := shown.sum(metric); got != want {
			t.Errorf("suspended: %s is %v, want %v", metric.Name, got, want)
		}
	}
	if released := shown[catalog.TermsEnded.Name+`{cause="released"}`]; released != 0 {
		t.Error("the lost term counts as released")
	}
	s.stopAll(t)
}

func TestAKilledLeaderIsFollowedUnderAHigherToken(t *testing.T) {
	s := newTestStage(t)
	killed := s.mustStart(t, "node-1")
	mustAwait(t, killed, 0, "its second entry", entry2)
	other := s.mustStart(t, "node-2")
	killed.kill()
	mustAwait(t, other, 0, "its second entry", entry2)
	before, _ := killed.history()
	after, _ := other.history()
	if token(after) <= token(before) {
		t.Errorf("token %v follows %v", token(after), token(before))
	}
	again := s.mustStart(t, "node-1")
	if err := other.order(orderStop); err != nil {
		t.Fatal(err)
	}
	mustAwait(t, again, 0, "its second entry", entry2)
	s.stopAll(t, killed)
}

func TestTheLedgerStaysInTurnWhenEtcdRestarts(t *testing.T) {
	s := newTestStage(t)
	writes := func(e event) bool { return e.Kind == wrote }
	one := s.mustStart(t, "node-1")
	mustAwait(t, one, 0, "an entry", writes)
	two := s.mustStart(t, "node-2")
	before := one.now()
	s.server.stop()
	if err := s.server.start(); err != nil {
		t.Fatal(err)
	}
	anyone := make(chan error, 2)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for p, first := range map[*process]int{one: before, two: 0} {
		go func() {
			_, err := p.awaitAfter(ctx, first, "an entry after the restart", writes)
			anyone <- err
		}()
	}
	if err := <-anyone; err != nil {
		t.Fatal(err)
	}
	cancel()
	s.stopAll(t)
}

func TestTheShow(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	if err := play(t.Context(), &out, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"node-1 goes on", "was refused", "0 of them out of turn", "1 (1)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing from\n%s", want, out.String())
		}
	}
	nothingLeft(t)
}

func TestAnInterruptedShowLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out := writerFunc(func(line []byte) {
		if bytes.Contains(line, []byte("suspended:")) {
			interrupt() // a node stands still then
		}
	})
	if err := play(ctx, out, false); !errors.Is(err, context.Canceled) {
		t.Errorf("the interrupted show ended with %v", err)
	}
	nothingLeft(t)
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) {
	f(b)
	return len(b), nil
}
