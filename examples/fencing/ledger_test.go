package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

func newLedger(t *testing.T) ledger {
	t.Helper()
	s := &server{dir: filepath.Join(t.TempDir(), "etcd")}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{s.address}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return ledger{client, "/" + t.Name() + "/"}
}

func TestTheLedgerRefusesATokenBelowTheHighestThatItHasSeen(t *testing.T) {
	l := newLedger(t)
	if err := l.append(t.Context(), 1, 1, "too early"); !errors.Is(err, errStale) {
		t.Errorf("a ledger that was not opened took an entry: %v", err)
	}
	for range 2 { // as two nodes do
		if err := l.open(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
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
		if errors.Is(err, errStale) != c.stale || err != nil && !c.stale {
			t.Errorf("entry %d of token %d: %v", c.entry, c.token, err)
		}
		if c.stale && !strings.HasSuffix(err.Error(), "the ledger has seen 10") {
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

func TestSeriesAreReadWithoutTheLocksLabel(t *testing.T) {
	got, err := parse(strings.NewReader(`# TYPE leader_active gauge
leader_active{lock_name="ledger-writer"} 1
# TYPE leader_terms_ended_total counter
leader_terms_ended_total{cause="lost",lock_name="ledger-writer"} 2
leader_terms_ended_total{cause="released",lock_name="ledger-writer"} 3
# TYPE leader_execution_duration_seconds histogram
leader_execution_duration_seconds_bucket{lock_name="ledger-writer",le="+Inf"} 5
leader_execution_duration_seconds_sum{lock_name="ledger-writer"} 7
leader_execution_duration_seconds_count{lock_name="ledger-writer"} 5
`))
	if err != nil {
		t.Fatal(err)
	}
	want := series{
		"leader_active": 1, `leader_terms_ended_total{cause="lost"}`: 2, `leader_terms_ended_total{cause="released"}`: 3,
		"leader_execution_duration_seconds": 5,
	}
	if len(got) != len(want) {
		t.Errorf("%v, want %v", got, want)
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s is %v, want %v", k, got[k], v)
		}
	}
}
