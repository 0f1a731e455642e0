//go:build unix

// Package stagetest is package stage for the examples' integration tests.
package stagetest

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
)

// patience is how long a condition may take on a loaded machine.
const patience = time.Minute

// Server starts a server for the test. Where it is not available the test is
// skipped, and fails in CI.
func Server(t *testing.T, start func(context.Context) (*stage.Server, error)) *stage.Server {
	t.Helper()
	s, err := start(t.Context())
	if errors.Is(err, stage.ErrMissing) && os.Getenv("CI") == "" {
		t.Skipf("SKIPPED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Node starts a node for the test, which ends with it.
func Node(t *testing.T, name string, args ...string) *stage.Node {
	t.Helper()
	n, err := stage.Start(t.Context(), name, func(line string) { t.Logf("%s: %s", name, line) }, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Kill)
	return n
}

// Until waits for a condition.
func Until(t *testing.T, what string, ask func(context.Context) (bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := stage.Until(ctx, what, ask); err != nil {
		t.Fatal(err)
	}
}

// Shows waits until a scrape of the node shows something.
func Shows(t *testing.T, n *stage.Node, what string, ask func(stage.Metrics) bool) {
	t.Helper()
	Until(t, n.Name+" "+what, func(ctx context.Context) (bool, error) {
		m, err := n.Metrics(ctx)
		return err == nil && ask(m), err
	})
}

// Drain ends the node's work and returns its last metrics; what it counted
// itself goes to counted.
func Drain(t *testing.T, n *stage.Node, counted any) stage.Metrics {
	t.Helper()
	return last(t, n, n.Drain, counted)
}

// Reported waits until the node has ended its work by itself; see Drain.
func Reported(t *testing.T, n *stage.Node, counted any) stage.Metrics {
	t.Helper()
	return last(t, n, n.Reported, counted)
}

func last(t *testing.T, n *stage.Node, read func(context.Context, any) error, counted any) stage.Metrics {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := read(ctx, counted); err != nil {
		t.Fatal(err)
	}
	m, err := n.Metrics(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Agrees fails the test where the metrics are not what the node counted
// itself.
func Agrees(t *testing.T, n *stage.Node, m stage.Metrics, counts map[string]stage.Count) {
	t.Helper()
	if len(counts) == 0 {
		t.Errorf("%s counted nothing", n.Name)
	}
	for _, wrong := range stage.Disagreements(m, counts) {
		t.Errorf("%s: %s", n.Name, wrong)
	}
}
