//go:build integration && unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/examples/internal/stage/stagetest"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// binary is the kube-apiserver that the environment names, or the one that
// scripts/integration-backends built. A test without one fails: only the user who
// runs the tests may exclude it.
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

// newTestDirector starts three nodes before a server of their own.
func newTestDirector(t *testing.T) *director {
	t.Helper()
	d, err := newDirector(t.Context(), options{binary: binary(t), namespace: "default"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		if err := d.start(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func (d *director) mustLead(t *testing.T, old *candidate) *candidate {
	t.Helper()
	c, err := d.leader(t.Context(), old)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustScrape(t *testing.T, c *candidate) stage.Metrics {
	t.Helper()
	shown, err := c.Metrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

// want compares what a node exposes.
func want(t *testing.T, c *candidate, shown stage.Metrics, want map[*catalog.Metric]float64) {
	t.Helper()
	for metric, v := range want {
		if got := shown.Of(metric.Name()); got != v {
			t.Errorf("%s: %s is %v, want %v", c.Name, metric.Name(), got, v)
		}
	}
}

// stopAll stops every node that is left and holds what it exposes then to what
// it counted. A node whose lease was given away, and which won it back before
// client-go told it of the loss, has a term that it did not count.
func (d *director) stopAll(t *testing.T, robbed ...*candidate) {
	t.Helper()
	for _, c := range d.nodes {
		if c.Gone() {
			continue
		}
		if err := c.stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		shown, terms := mustScrape(t, c), float64(*c.terms)
		if slices.Contains(robbed, c) && shown.Of(catalog.Acquired.Name()) == terms+1 {
			terms++
		}
		want(t, c, shown, map[*catalog.Metric]float64{
			catalog.Acquired: terms, catalog.TermsEnded: terms, catalog.ExecutionDuration: terms,
			catalog.ExecutionFailures: 0, catalog.FencingTokenRegressions: 0,
			catalog.Active: 0, catalog.Running: 0, catalog.Pending: 0,
			catalog.Attempts: shown.Of(catalog.Acquired.Name()) + shown.Of(catalog.NotAcquired.Name()),
		})
		if n := c.working(); n != 0 {
			t.Errorf("%s: %d bodies run after the stop", c.Name, n)
		}
	}
}

// token holds the token of the leader to the Lease.
func (d *director) token(t *testing.T, leader *candidate) float64 {
	t.Helper()
	lease, err := d.lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := mustScrape(t, leader).Select(catalog.FencingToken.Name())
	shown, known := m.Of(catalog.FencingToken.Name()), len(m) > 0
	if !known || shown != float64(*lease.Spec.LeaseTransitions) || *lease.Spec.HolderIdentity != leader.Name {
		t.Errorf("%s: token %v, known %v; the Lease is %s's, of %d transitions", leader.Name, shown, known, *lease.Spec.HolderIdentity, *lease.Spec.LeaseTransitions)
	}
	return shown
}

func TestALeaderThatStopsGracefullyIsNotActive(t *testing.T) {
	d := newTestDirector(t)
	old := d.mustLead(t, nil)
	before := d.token(t, old)
	if err := old.stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	shown := mustScrape(t, old)
	want(t, old, shown, map[*catalog.Metric]float64{catalog.Active: 0, catalog.Running: 0, catalog.TermsEnded: 1, catalog.Releases: 1})
	if shown.Of(catalog.TermsEnded.Name(), "cause", "released") != 1 {
		t.Errorf("the term did not end as released: %v", shown)
	}
	t.Logf("client-go's gauge is %v", shown.Of(clientGo))
	if after := d.token(t, d.mustLead(t, old)); after <= before {
		t.Errorf("token %v follows %v", after, before)
	}
	d.stopAll(t)
}

func TestAKilledLeaderIsFollowedByOne(t *testing.T) {
	d := newTestDirector(t)
	old := d.mustLead(t, nil)
	before := d.token(t, old)
	old.Kill()
	next := d.mustLead(t, old)
	if after := d.token(t, next); after <= before {
		t.Errorf("token %v follows %v", after, before)
	}
	want(t, next, mustScrape(t, next), map[*catalog.Metric]float64{catalog.Active: 1, catalog.Running: 1, catalog.Acquired: 1})
	if err := d.start(t.Context(), old.Name); err != nil {
		t.Fatal(err)
	}
	d.stopAll(t)
}

func TestTheFirstScrapeOfALeaderThatWasSuspendedShowsItInactive_C15_C16(t *testing.T) {
	d := newTestDirector(t)
	old := d.mustLead(t, nil)
	old.Suspend()
	next := d.mustLead(t, old)
	old.Continue()
	shown := mustScrape(t, old)
	if shown.Of(catalog.Active.Name()) != 0 && shown.Of(catalog.Acquired.Name()) == 1 {
		t.Error("it shows itself active in the term that is over")
	}
	stagetest.Until(t, "the end of its work", func(context.Context) (bool, error) { return old.ended.Load() > 0, nil })
	d.stopAll(t, next)
	shown = mustScrape(t, old)
	want(t, old, shown, map[*catalog.Metric]float64{catalog.LeaseOverruns: 1})
	if shown.Of(catalog.WorkAfterLoss.Name()) <= 0 {
		t.Error("the body ran on after its lease, and no work after loss was counted")
	}
}

func TestTheBooksBalanceWhenTheServerRestarts(t *testing.T) {
	d := newTestDirector(t)
	d.mustLead(t, nil)
	d.cluster.server.Down()
	if err := d.cluster.server.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.token(t, d.mustLead(t, nil))
	d.stopAll(t)
}

func TestTheShow(t *testing.T) {
	printed := stagetest.Show(t, "--kube-apiserver", binary(t))
	stagetest.LikeItsREADME(t, printed)
	if n := strings.Count(printed, "  leads\n"); n != 3 {
		t.Errorf("%d terms, want 3:\n%s", n, printed)
	}
	sums := 0
	for line := range strings.Lines(printed) {
		if cells := strings.Fields(line); len(cells) > 3 && cells[0] == "sum" {
			sums++
			if cells[1] != "1" || cells[3] != "1" {
				t.Errorf("not one leader: %s", line)
			}
		}
	}
	if sums != 3 {
		t.Errorf("%d tables, want 3:\n%s", sums, printed)
	}
}

func TestOnAClusterThatIsThereTheLeaseIsRemoved(t *testing.T) {
	d := newTestDirector(t)
	stagetest.Interrupt(t, "killed", "--kubeconfig", d.kubeconfig)
	remaining, err := d.client.CoordinationV1().Leases("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range remaining.Items {
		if l.Name != d.leaseName {
			t.Errorf("the Lease %s is left", l.Name)
		}
	}
}
