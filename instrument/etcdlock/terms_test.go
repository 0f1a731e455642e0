package etcdlock

import (
	"slices"
	"testing"

	"go.etcd.io/etcd/client/v3/concurrency"
)

func TestATermThatLeavesLeavesTheOthers(t *testing.T) {
	s := &concurrency.Session{}
	for name, gone := range map[string]bool{"and its key is gone": true, "and its key may be there": false} {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(func() { terms.gone = slices.DeleteFunc(terms.gone, func(of *term) bool { return of.session == s }) })
			first, second := &term{s, "/a", 1}, &term{s, "/b", 2}
			if !first.stay() || !second.stay() {
				t.Fatal("a term is not the first of its key")
			}
			first.leave(gone)
			if got := keysOf(s); !slices.Equal(got, []string{"/b"}) {
				t.Errorf("keys %v, want that of the other term", got)
			}
			second.leave(gone)
			if got := keysOf(s); len(got) != 0 {
				t.Errorf("keys %v", got)
			}
		})
	}
}
