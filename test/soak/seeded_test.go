package main

import (
	"bytes"
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/test/server"
)

func TestEachSeededFaultFitsTheCode(t *testing.T) {
	files, err := overlay(server.Root())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if _, err := parser.ParseFile(token.NewFileSet(), name, text, 0); err != nil {
			t.Error(err)
		}
	}
	for i, s := range seededFaults {
		t.Run(s.what, func(t *testing.T) {
			choice := fmt.Sprintf("seededFault == %q", fmt.Sprint(i))
			if n := bytes.Count(files[s.file], []byte(choice)); n != 1 {
				t.Errorf("%s has %q %d times, want once", s.file, choice, n)
			}
			if files[filepath.Join(filepath.Dir(s.file), "seeded_fault.go")] == nil {
				t.Error("nothing chooses the fault")
			}
			for _, e := range s.electors {
				if _, err := find(e); err != nil {
					t.Error(err)
				}
			}
			if len(some(s.only)) != 1 {
				t.Errorf("%q chooses the faults %v, want one", s.only, some(s.only))
			}
		})
	}
}

func TestASeededFaultThatDoesNotFitIsAnError(t *testing.T) {
	s := seeded{what: "a wrong sum", file: "sum.go", good: "a + b", bad: "sum(SEEDED)"}
	for name, c := range map[string]struct{ text, want, err string }{
		"once":  {"return a + b", `return sum((seededFault == "7"))`, ""},
		"never": {"return b + a", "", `seeded fault "a wrong sum": sum.go has "a + b" 0 times, want once`},
		"twice": {"a + b; a + b", "", `seeded fault "a wrong sum": sum.go has "a + b" 2 times, want once`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := s.apply([]byte(c.text), 7)
			said := ""
			if err != nil {
				said = err.Error()
			}
			if string(got) != c.want || said != c.err {
				t.Errorf("%q, %q", got, said)
			}
		})
	}
}

func TestEveryLockFindsALossThatIsMissed(t *testing.T) {
	found := map[string]bool{}
	for _, s := range seededFaults {
		for _, e := range s.electors {
			found[e] = found[e] || s.only == "deleted"
		}
	}
	for _, b := range backends {
		// The leader of a campaign makes a deleted Lease again, and keeps it; without
		// answers its term is over with the lease in any case.
		if !found[b.name] && b.campaign == nil {
			t.Errorf("no seeded fault makes %s miss a loss", b.name)
		}
	}
}

func TestARenewalThatIsCountedTwiceIsSeededForEveryElector(t *testing.T) {
	if diff := cmp.Diff(slices.Sorted(slices.Values(names())), slices.Sorted(slices.Values(everyLock))); diff != "" {
		t.Error(diff)
	}
}

func TestALeaseEndFromAfterTheAnswerIsSeededWhereTheServerTellsIt(t *testing.T) {
	found := map[string]bool{}
	for _, s := range seededFaults {
		for _, e := range s.electors {
			found[e] = found[e] || s.finds == findsEnd
		}
	}
	for _, b := range backends {
		// A ZooKeeper does not tell when a session ends.
		if want := !b.leaseless && b.name != "zookeeper"; found[b.name] != want {
			t.Errorf("%s: %v, want %v", b.name, found[b.name], want)
		}
	}
}

func TestAFaultThatIsNotFoundIsLookedForAgain(t *testing.T) {
	all := []seededRun{{seeded{what: "a wrong sum", finds: "sum is 3"}, 0, "etcd"}, {seeded{what: "a wrong product", finds: "product is 4"}, 1, "nats"}}
	for name, c := range map[string]struct {
		said [][]string // of each run, one after the other
		want string
		used []int
	}{
		"each found at once":        {[][]string{{"sum is 3"}, {"product is 4"}}, "", []int{1, 1}},
		"one found at the second":   {[][]string{{"late", "sum is 3"}, {"product is 4"}}, "", []int{2, 1}},
		"one is never found":        {[][]string{{"sum is 3"}, {"a", "b", "c"}}, "nats did not find that a wrong product: no \"product is 4\" in\nc", []int{1, 3}},
		"no server of one of them":  {[][]string{{"SKIPPED etcd: none"}, {"product is 4"}}, "", []int{1, 1}},
		"found by the third of one": {[][]string{{"sum is 3"}, {"a", "b", "product is 4"}}, "", []int{1, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			used := make([]int, len(all))
			err := options{repeat: 2, parallel: 1, seed: 5}.findFaults(context.Background(), all, func(r seededRun, number uint64) (string, error) {
				if want := uint64(5 + used[r.place]); number != want {
					t.Errorf("seed %d, want %d", number, want)
				}
				used[r.place]++
				return c.said[r.place][used[r.place]-1], nil
			})
			said := ""
			if err != nil {
				said = err.Error()
			}
			if diff := cmp.Diff(c.want, said); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.used, used); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAFaultIsFoundByTheWordsThatNameIt(t *testing.T) {
	s := seeded{what: "a wrong sum", finds: "sum is 3"}
	for name, c := range map[string]struct{ said, want string }{
		"found":           {"nats: sum is 3, want 2", ""},
		"no server":       {"SKIPPED nats: no server", ""},
		"another finding": {"nats: late", "nats did not find that a wrong sum: no \"sum is 3\" in\nnats: late"},
		"another skipped": {"SKIPPED etcd: no server", "nats did not find that a wrong sum: no \"sum is 3\" in\nSKIPPED etcd: no server"},
		"nothing":         {"", "nats did not find that a wrong sum: no \"sum is 3\" in\n"},
	} {
		t.Run(name, func(t *testing.T) {
			said := ""
			if err := s.found("nats", c.said); err != nil {
				said = err.Error()
			}
			if said != c.want {
				t.Errorf("%q, want %q", said, c.want)
			}
		})
	}
}
