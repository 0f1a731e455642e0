package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/leaderscope/leaderscope/test/server"
)

func TestEachSeededFaultFitsTheCode(t *testing.T) {
	for _, s := range seededFaults {
		t.Run(s.what, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(server.Root(), s.file))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.apply(text); err != nil {
				t.Error(err)
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
	s := seeded{what: "a wrong sum", file: "sum.go", good: "a + b", bad: "a - b"}
	for name, c := range map[string]struct{ text, want, err string }{
		"once":  {"return a + b", "return a - b", ""},
		"never": {"return b + a", "", `seeded fault "a wrong sum": sum.go has "a + b" 0 times, want once`},
		"twice": {"a + b; a + b", "", `seeded fault "a wrong sum": sum.go has "a + b" 2 times, want once`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := s.apply([]byte(c.text))
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
