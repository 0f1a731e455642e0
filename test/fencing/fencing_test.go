//go:build integration

package fencing

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/test/server"
)

// process is a node, and what it has told.
type process struct {
	cmd *exec.Cmd

	mu   sync.Mutex
	told []event
	gone bool
}

func (o order) start(t *testing.T) *process {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), orderVariable+"="+string(text))
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var e event
			if json.Unmarshal(lines.Bytes(), &e) == nil {
				p.mu.Lock()
				p.told = append(p.told, e)
				p.mu.Unlock()
			}
		}
		p.mu.Lock()
		p.gone = true
		p.mu.Unlock()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-read
		_ = p.cmd.Wait()
	})
	return p
}

// count is how many events of a kind the node has told.
func (p *process) count(kind string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.told {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// await returns the first of the processes of which the event is true.
func await(t *testing.T, what string, is func(*process) bool, among ...*process) *process {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		for _, p := range among {
			if is(p) {
				return p
			}
		}
	}
	t.Fatalf("not within two minutes: %s", what)
	return nil
}

// more says that a node wrote so often since now.
func more(n int, among ...*process) func(*process) bool {
	before := map[*process]int{}
	for _, p := range among {
		before[p] = p.count(wrote)
	}
	return func(p *process) bool { return p.count(wrote) >= before[p]+n }
}

func TestNoLateWriteOfASuspendedLeaderReachesAStore_C05(t *testing.T) {
	etcd := started(t, "etcd")
	for kind := range openers {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			o := order{Etcd: strings.Join(etcd.Addresses(), ","), Prefix: "/lead/" + kind, Kind: kind, Stores: []string{"fence_a", "fence_b"}}
			restart := func() {} // of what owns the store
			var m *instrument.Middleware
			switch kind {
			case "etcd":
				o.Address = o.Etcd
			case "http":
				var s *service
				s, m = newService(t)
				front := httptest.NewServer(s)
				t.Cleanup(front.Close)
				o.Address = strings.TrimPrefix(front.URL, "http://")
				restart = s.restart
			default:
				s := started(t, kind)
				o.Address = s.Addresses()[0]
				restart = func() {
					s.Down()
					if err := s.Up(); err != nil {
						t.Fatal(err)
					}
				}
			}
			o.play(t, restart, m)
		})
	}
}

// play suspends the leader past its lease, kills the next and restarts the
// store.
func (o order) play(t *testing.T, restart func(), service *instrument.Middleware) {
	node := func(id string) *process { o.ID = id; return o.start(t) }
	one, two := node("one"), node("two")
	suspended := await(t, "the first leader", func(p *process) bool { return p.count(wrote) >= 6 }, one, two)
	next := two
	if suspended == two {
		next = one
	}
	suspended.signal(t, syscall.SIGSTOP)
	await(t, "the second leader", func(p *process) bool { return p.count(wrote) >= 6 }, next)
	suspended.signal(t, syscall.SIGCONT)
	await(t, "two refusals", func(p *process) bool { return p.count(refused) == 2 }, suspended)
	await(t, "the successor goes on", more(6, next), next)

	next.signal(t, syscall.SIGKILL)
	three := node("three")
	await(t, "a leader after a kill", more(6, suspended, three), suspended, three)
	restart()
	await(t, "writes after a restart of the store", more(6, suspended, three), suspended, three)

	for _, p := range []*process{suspended, three} {
		p.signal(t, syscall.SIGTERM)
		await(t, "the end", func(p *process) bool { return p.count(remaining) == 1 }, p)
	}
	for p, stale := range map[*process]int{suspended: 2, next: 0, three: 0} {
		if n := p.count(refused); n != stale {
			t.Errorf("%d refusals, want %d", n, stale)
		}
		if p == next || service != nil { // killed, or the service counts
			continue
		}
		checks := p.told[len(p.told)-1].Checks
		low, high := float64(p.count(wrote)), float64(p.count(wrote)+p.count(unsure))
		if checks["stale"] != float64(stale) || checks["missing"] != 0 || checks["admitted"] < low || checks["admitted"] > high {
			t.Errorf("%d wrote, %d unsure, %d refused; counted %v", p.count(wrote), p.count(unsure), stale, checks)
		}
	}
	o.judge(t, suspended, next, three)
	if service == nil {
		return
	}
	series := electtest.Read(service, "ledger")
	counted := map[string]float64{}
	for _, result := range []catalog.FencingResult{catalog.FencingStale, catalog.FencingMissing} {
		counted[result.String()] = series[electtest.Of(catalog.FencingChecks, result.String())]
	}
	if diff := cmp.Diff(map[string]float64{"stale": 2, "missing": 0}, counted); diff != "" {
		t.Error(diff)
	}
}

// judge reads what the stores hold: tokens that only grow, and nothing that no
// node knows of.
func (o order) judge(t *testing.T, nodes ...*process) {
	t.Helper()
	for i, name := range o.Stores {
		s, err := openers[o.Kind](nil, o.Address, name)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		tokens, err := s.read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSorted(tokens) {
			t.Errorf("store %d: a late write was let through: %v", i, tokens)
		}
		low, high := 0, 0
		for _, p := range nodes {
			for _, e := range p.told {
				if e.Store == i && e.Kind == wrote {
					low++
				}
				if e.Store == i && e.Kind == unsure {
					high++
				}
			}
		}
		terms := len(slices.Compact(slices.Clone(tokens)))
		if len(tokens) < low || len(tokens) > low+high+1 || terms < 3 { // one may be of the process that was killed
			t.Errorf("store %d: %d entries of %d terms, the nodes wrote %d and do not know of %d", i, len(tokens), terms, low, high)
		}
		t.Logf("store %d: %d entries of %d terms, the last under token %d", i, len(tokens), terms, tokens[len(tokens)-1])
	}
}

// started starts a server, or skips and says why.
func started(t *testing.T, name string) server.Server {
	t.Helper()
	s, err := server.Start(name)
	if errors.Is(err, server.ErrMissing) && os.Getenv("LEADERSCOPE_ALL_SERVERS") == "" {
		t.Skipf("SKIPPED %s: %v", name, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}
