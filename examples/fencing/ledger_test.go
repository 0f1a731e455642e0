//go:build unix

package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/leaderscope/leaderscope/examples/internal/stage/etcd"
	"github.com/leaderscope/leaderscope/instrument/fence"
)

func newTestLedger(t *testing.T) ledger {
	t.Helper()
	s, err := etcd.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	client, err := connect(s.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return newLedger(client, nil)
}

func TestTheLedgerRefusesATokenBelowTheHighestThatItHasSeen(t *testing.T) {
	l := newTestLedger(t)
	for _, c := range []struct {
		token uint64
		entry int
		stale bool
	}{
		{9, 1, false},
		{9, 2, false},
		{10, 1, false}, // more digits: numbers are compared, not words
		{9, 3, true},
		{2, 1, true},
		{10, 2, false},
	} {
		err := l.append(t.Context(), c.token, c.entry, "text")
		if errors.Is(err, fence.ErrStale) != c.stale || err != nil && !c.stale {
			t.Errorf("entry %d of token %d: %v", c.entry, c.token, err)
		}
		if c.stale && !strings.Contains(err.Error(), "the store has seen 10") {
			t.Errorf("%q does not say which token was seen", err)
		}
	}
	entries, err := l.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var tokens []string
	for _, e := range entries {
		tokens = append(tokens, strings.TrimLeft(e.token, "0"))
	}
	if got := strings.Join(tokens, " "); got != "9 9 10 10" {
		t.Errorf("entries of tokens %s, want 9 9 10 10", got)
	}
}

func TestViolationsAreEntriesOfATermAfterThoseOfALater(t *testing.T) {
	for name, c := range map[string]struct {
		tokens string
		want   int
	}{
		"none at all":                     {"", 0},
		"in turn":                         {"1 1 2 5 5", 0},
		"an older term wrote after":       {"1 2 1", 1},
		"and went on, and so did another": {"1 3 1 2 3", 2},
	} {
		t.Run(name, func(t *testing.T) {
			var entries []entry
			for _, token := range strings.Fields(c.tokens) {
				entries = append(entries, entry{token: token})
			}
			if got := violations(entries); got != c.want {
				t.Errorf("%d violations, want %d", got, c.want)
			}
		})
	}
}
