//go:build integration && unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// binary is the kube-apiserver that the environment names, or the one that
// scripts/integration-backends built. A test without one fails: to be left out
// is for who runs the tests to say.
func binary(t *testing.T) string {
	t.Helper()
	if path := os.Getenv(binaryVariable); path != "" {
		return path
	}
	found, _ := filepath.Glob("../../.cache/kube-apiserver-*/kube-apiserver")
	if len(found) == 0 {
		t.Fatalf("%s is not set and there is none below .cache; scripts/build-kube-apiserver builds one", binaryVariable)
	}
	path, err := filepath.Abs(found[len(found)-1])
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// newTestStage starts three nodes before a server of their own.
func newTestStage(t *testing.T) *stage {
	t.Helper()
	o := options{binary: binary(t), namespace: "default"}
	t.Setenv("TMPDIR", t.TempDir())
	s, err := newStage(t.Context(), o, func(name string, e event) { t.Log(name, e.Kind, e.Count) })
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
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		if _, err := s.start(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *stage) mustLead(t *testing.T, old *process) *process {
	t.Helper()
	p, err := s.leader(t.Context(), old)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustScrape(t *testing.T, p *process) series {
	t.Helper()
	shown, err := scrape(t.Context(), p.metrics)
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

// want compares what a node exposes.
func want(t *testing.T, p *process, shown series, want map[*catalog.Metric]float64) {
	t.Helper()
	for metric, v := range want {
		if got := shown.sum(metric.Name); got != v {
			t.Errorf("%s: %s is %v, want %v", p.name, metric.Name, got, v)
		}
	}
}

// stopAll stops every node that is left and holds what it exposes then to what
// it counted. A node whose lease was given away, and which won it back before
// client-go told it of the loss, has a term that it did not count.
func (s *stage) stopAll(t *testing.T, robbed ...*process) {
	t.Helper()
	for _, p := range s.nodes {
		if p.gone() {
			continue
		}
		if err := p.stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		said := p.history()
		counted, shown := said[len(said)-1].Count, mustScrape(t, p)
		terms := float64(counted.Terms)
		if slices.Contains(robbed, p) && shown.sum(catalog.Acquired.Name) == terms+1 {
			terms++
		}
		want(t, p, shown, map[*catalog.Metric]float64{
			catalog.Acquired: terms, catalog.TermsEnded: terms, catalog.ExecutionDuration: terms,
			catalog.ExecutionFailures: 0, catalog.FencingTokenRegressions: 0,
			catalog.Active: 0, catalog.Running: float64(counted.Working), catalog.Pending: 0,
			catalog.Attempts: shown.sum(catalog.Acquired.Name) + shown.sum(catalog.NotAcquired.Name),
		})
		if counted.Working != 0 {
			t.Errorf("%s: %d bodies run after the stop", p.name, counted.Working)
		}
	}
}

// token holds the token of the leader to the Lease.
func (s *stage) token(t *testing.T, leader *process) float64 {
	t.Helper()
	lease, err := s.lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shown, known := mustScrape(t, leader)[catalog.FencingToken.Name]
	if !known || shown != float64(*lease.Spec.LeaseTransitions) || *lease.Spec.HolderIdentity != leader.name {
		t.Errorf("%s: token %v, known %v; the Lease is %s's, of %d transitions", leader.name, shown, known, *lease.Spec.HolderIdentity, *lease.Spec.LeaseTransitions)
	}
	return shown
}

func TestALeaderThatStopsGracefullyIsNotActive(t *testing.T) {
	s := newTestStage(t)
	old := s.mustLead(t, nil)
	before := s.token(t, old)
	if err := old.stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	shown := mustScrape(t, old)
	want(t, old, shown, map[*catalog.Metric]float64{catalog.Active: 0, catalog.Running: 0, catalog.TermsEnded: 1, catalog.Releases: 1})
	if shown[catalog.TermsEnded.Name+`{cause="released"}`] != 1 {
		t.Errorf("the term did not end as released: %v", shown)
	}
	t.Logf("client-go's gauge is %v", shown.sum(clientGo))
	if after := s.token(t, s.mustLead(t, old)); after <= before {
		t.Errorf("token %v follows %v", after, before)
	}
	s.stopAll(t)
}

func TestAKilledLeaderIsFollowedByOne(t *testing.T) {
	s := newTestStage(t)
	old := s.mustLead(t, nil)
	before := s.token(t, old)
	old.kill()
	next := s.mustLead(t, old)
	if after := s.token(t, next); after <= before {
		t.Errorf("token %v follows %v", after, before)
	}
	want(t, next, mustScrape(t, next), map[*catalog.Metric]float64{catalog.Active: 1, catalog.Running: 1, catalog.Acquired: 1})
	if _, err := s.start(t.Context(), old.name); err != nil {
		t.Fatal(err)
	}
	s.stopAll(t)
}

func TestTheFirstScrapeOfALeaderThatWasSuspendedShowsItInactive_C15_C16(t *testing.T) {
	s := newTestStage(t)
	old := s.mustLead(t, nil)
	if err := old.signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	next := s.mustLead(t, old)
	if err := old.signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	shown := mustScrape(t, old)
	if shown.sum(catalog.Active.Name) != 0 && shown.sum(catalog.Acquired.Name) == 1 {
		t.Error("it shows itself active in the term that is over")
	}
	wasTold := func() bool { return slices.ContainsFunc(old.said, func(e event) bool { return e.Kind == over }) }
	if err := s.await(t.Context(), "the end of its work", wasTold); err != nil {
		t.Fatal(err)
	}
	s.stopAll(t, next)
	shown = mustScrape(t, old)
	want(t, old, shown, map[*catalog.Metric]float64{catalog.LeaseOverruns: 1})
	if shown.sum(catalog.WorkAfterLoss.Name) <= 0 {
		t.Error("the body ran on after its lease, and no work after loss was counted")
	}
}

func TestTheBooksBalanceWhenTheServerRestarts(t *testing.T) {
	s := newTestStage(t)
	s.mustLead(t, nil)
	s.server.stop()
	if err := s.server.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.token(t, s.mustLead(t, nil))
	s.stopAll(t)
}

func TestTheShow(t *testing.T) {
	o := options{binary: binary(t), namespace: "default"}
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	if err := play(t.Context(), o, &out, false); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "  leads\n"); n != 3 {
		t.Errorf("%d terms, want 3:\n%s", n, out.String())
	}
	sums := 0
	for line := range strings.Lines(out.String()) {
		if cells := strings.Fields(line); len(cells) > 3 && cells[0] == "sum" {
			sums++
			if cells[1] != "1" || cells[3] != "1" {
				t.Errorf("not one leader: %s", line)
			}
		}
	}
	if sums != 3 {
		t.Errorf("%d tables, want 3:\n%s", sums, out.String())
	}
	nothingLeft(t)
}

func TestOnAClusterThatIsThereTheLeaseIsRemoved(t *testing.T) {
	s := newTestStage(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out := writerFunc(func(line []byte) {
		if bytes.Contains(line, []byte("killed")) {
			interrupt()
		}
	})
	if err := play(ctx, options{kubeconfig: s.config.Kubeconfig, namespace: "default"}, out, false); !errors.Is(err, context.Canceled) {
		t.Errorf("the interrupted show ended with %v", err)
	}
	left, err := s.client.CoordinationV1().Leases("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range left.Items {
		if l.Name != s.config.Lease {
			t.Errorf("the Lease %s is left", l.Name)
		}
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) {
	f(b)
	return len(b), nil
}
