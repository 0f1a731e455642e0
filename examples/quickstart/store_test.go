package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/fence"
	"github.com/leaderscope/leaderscope/redact"
)

// A leader that wakes up after its term finishes the step that it was in: one
// write, and the store refuses it if another term has written.
func TestTheStepThatALeaderWasInIsWrittenAndAStoreRefusesItWhenLate(t *testing.T) {
	key := make([]byte, redact.MinKeySize)
	rand.Read(key) // never fails
	policy := redact.Hash(key, keyID)
	s, err := newStore(policy)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	r := &replica{store: newStoreClient(s.address)}
	over, end := context.WithCancel(t.Context())
	end()
	term := termWithToken(t, 3)
	for _, step := range []struct {
		name string
		act  func() error
		want string
	}{
		{"the term ends in a step, and none has followed", func() error { return r.settle(over, term) }, "1 entries are in the store, 0 of them late"},
		{"another term writes", func() error { return r.store.write(fence.WithToken(t.Context(), 6)) }, "2 entries are in the store, 0 of them late"},
		{"the first wakes up and has noticed", func() error { return r.settle(over, term) }, "2 entries are in the store, 0 of them late"},
		{"the first wakes up and has not noticed", func() error { return r.settle(t.Context(), term) }, "2 entries are in the store, 0 of them late"},
		{"a replica without a store", func() error { return (&replica{}).settle(over, term) }, "2 entries are in the store, 0 of them late"},
	} {
		if err := step.act(); err != nil {
			t.Errorf("%s: %v", step.name, err)
		}
		if diff := cmp.Diff(step.want, s.inOrder().text); diff != "" || !s.inOrder().ok {
			t.Errorf("%s: %s", step.name, diff)
		}
	}
	page, err := get(t.Context(), "http://"+s.address+"/metrics")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "#") && strings.Contains(line, "fencing") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	label := policy.Label(leaderLock).Text
	want := []string{
		fmt.Sprintf(`leader_fencing_checks_total{lock_name=%q,result="admitted"} 2`, label),
		fmt.Sprintf(`leader_fencing_checks_total{lock_name=%q,result="missing"} 0`, label),
		fmt.Sprintf(`leader_fencing_checks_total{lock_name=%q,result="stale"} 2`, label),
		fmt.Sprintf(`leader_fencing_highest_token{lock_name=%q} 6`, label),
	}
	if diff := cmp.Diff(want, got); diff != "" || strings.Contains(page, "acme") {
		t.Errorf("%s\n%s", diff, page)
	}
}

func termWithToken(t *testing.T, token uint64) *instrument.Term {
	t.Helper()
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	term, err := m.Election("x").Acquire(t.Context(), electtest.Wins(instrument.NewLease(nil, instrument.Token(token))))
	if err != nil {
		t.Fatal(err)
	}
	return term
}

func TestAnEntryUnderAnOlderTokenIsWrong(t *testing.T) {
	for _, c := range []struct {
		tokens []uint64
		want   check
	}{
		{nil, check{"0 entries are in the store, 0 of them late", false}},
		{[]uint64{3, 3, 6}, check{"3 entries are in the store, 0 of them late", true}},
		{[]uint64{3, 6, 3, 4, 6}, check{"5 entries are in the store, 2 of them late", false}},
	} {
		s := &store{}
		for _, token := range c.tokens {
			s.keep(token)
		}
		if got := s.inOrder(); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.tokens, got, c.want)
		}
	}
}
