//go:build integration

package observer

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"

	"github.com/leaderscope/leaderscope/test/server"
)

// store is an etcd and an observer of it.
type store struct {
	server.Server
	*process
}

func newStore(t *testing.T) *store {
	t.Helper()
	s := start(t, "etcd")
	list := ""
	for _, a := range s.Addresses() {
		list += fmt.Sprintf("\n      - http://%s", a)
	}
	p := run(t, `
redaction: {policy: raw}
forgetAfter: 1s
etcd:
  - prefixes: [/elections/, /locks/]
    endpoints:`+list+"\n")
	eventually(t, "the observer is ready", func() bool { status, _, err := p.get("/readyz"); return err == nil && status == 200 })
	return &store{s, p}
}

// candidate is a process of its own.
type candidate struct {
	t       *testing.T
	client  *clientv3.Client
	session *concurrency.Session
	*concurrency.Election
	holder string
}

func (s *store) candidate(t *testing.T, name, holder string, ttl int) *candidate {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: s.Addresses(), DialTimeout: 5 * time.Second, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	session, err := concurrency.NewSession(client, concurrency.WithTTL(ttl))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return &candidate{t, client, session, concurrency.NewElection(session, "/elections/"+name), holder}
}

func (c *candidate) wins() time.Time {
	c.t.Helper()
	if err := c.Campaign(c.t.Context(), c.holder); err != nil {
		c.t.Fatal(err)
	}
	return time.Now()
}

func TestEachElectionIsWhatTheRefereeSays(t *testing.T) {
	s := newStore(t)
	lives := map[string]func(*referee){
		"resigned": func(r *referee) {
			a, b := s.candidate(t, "resigned", "a", 60), s.candidate(t, "resigned", "b", 60)
			r.holds("a", a.wins())
			pause(0.3)
			if err := a.Resign(t.Context()); err != nil {
				t.Error(err)
			}
			r.frees(time.Now())
			pause(1)
			r.holds("b", b.wins())
		},
		"followed-at-once": func(r *referee) {
			a, b := s.candidate(t, "followed-at-once", "a", 60), s.candidate(t, "followed-at-once", "b", 60)
			r.holds("a", a.wins())
			won := make(chan struct{})
			go func() { defer close(won); b.wins() }()
			pause(0.5)
			if err := a.Resign(t.Context()); err != nil {
				t.Error(err)
			}
			<-won
			r.holds("b", time.Now())
		},
		"killed": func(r *referee) {
			a, b := s.candidate(t, "killed", "a", 2), s.candidate(t, "killed", "b", 60)
			r.holds("a", a.wins())
			key := a.Key()
			a.session.Orphan()
			r.frees(s.goes(t, b.client, key))
			pause(1)
			r.holds("b", b.wins())
		},
		"deleted-for-good": func(r *referee) {
			a := s.candidate(t, "deleted-for-good", "a", 60)
			r.holds("a", a.wins())
			pause(0.3)
			if _, err := a.client.Delete(t.Context(), a.Key()); err != nil {
				t.Error(err)
			}
			r.frees(time.Now())
		},
		"renewed": func(r *referee) {
			r.holds("a", s.candidate(t, "renewed", "a", 2).wins())
			pause(4)
		},
	}
	referees := map[string]*referee{}
	var all sync.WaitGroup
	for name, live := range lives {
		r := &referee{t: t}
		referees[name] = r
		all.Go(func() { live(r) })
	}
	all.Wait()
	pause(1)
	got, _ := s.lock(t, "etcd", "/elections/renewed")
	if got["lease_duration_seconds"] != 2 || got["token"] == 0 {
		t.Errorf("the length and the token: %v", got)
	}
	for name, r := range referees {
		if name != "deleted-for-good" { // forgotten after a second
			r.compare(s.process, "etcd", "/elections/"+name)
		}
	}
	eventually(t, "a lock whose keys are gone is forgotten", func() bool {
		got, _ := s.lock(t, "etcd", "/elections/deleted-for-good")
		return len(got) == 0
	})
}

// goes waits until a key is gone.
func (s *store) goes(t *testing.T, c *clientv3.Client, key string) time.Time {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for changes := range c.Watch(ctx, key, clientv3.WithFilterPut()) {
		if len(changes.Events) > 0 {
			return time.Now()
		}
	}
	t.Error("the key stays")
	return time.Now()
}

func TestAMutexIsALockOfItsPrefix(t *testing.T) {
	s := newStore(t)
	c := s.candidate(t, "unused", "x", 60)
	m := concurrency.NewMutex(c.session, "/locks/report")
	if err := m.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the mutex is held by its session", func() bool {
		got, holder := s.lock(t, "etcd", "/locks/report")
		return got["held"] == 1 && holder == fmt.Sprintf("%x", c.session.Lease())
	})
	if err := m.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is free", func() bool {
		got, _ := s.lock(t, "etcd", "/locks/report")
		held, known := got["held"]
		return known && held == 0
	})
}

func TestAnEtcdThatIsAwayIsNoVacancy(t *testing.T) {
	s := newStore(t)
	c := s.candidate(t, "steady", "a", 300)
	r := referee{t: t}
	r.holds("a", c.wins())
	seen := func() bool {
		got, holder := s.lock(t, "etcd", "/elections/steady")
		return got["held"] == 1 && holder == "a"
	}
	eventually(t, "the election is seen", seen)
	s.Down()
	eventually(t, "the backend is down", func() bool { return s.up(t, "etcd") == 0 })
	if got, holder := s.lock(t, "etcd", "/elections/steady"); holder != "" || got["vacant_seconds_total"] > 0.1 {
		t.Errorf("while etcd is away: %v by %q", got, holder)
	}
	if err := s.Up(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the election is seen again", seen)
	r.compare(s.process, "etcd", "/elections/steady")

	_ = s.Process.Signal(syscall.SIGSTOP)
	pause(17) // longer than a reading is believed
	_ = s.Process.Signal(syscall.SIGCONT)
	eventually(t, "the election is seen after a suspension", func() bool { return seen() && s.up(t, "etcd") == 1 })
	r.compare(s.process, "etcd", "/elections/steady")
}

// What the process does as its users see it.
func TestTheProcessSaysWhatItIsAndStops(t *testing.T) {
	p := run(t, `
redaction: {policy: raw}
etcd:
  - prefixes: [/elections/]
    endpoints: ["http://127.0.0.1:1"]
`)
	if status, body, err := p.get("/healthz"); err != nil || status != 200 || body != "ok\n" {
		t.Errorf("healthz: %d %q %v", status, body, err)
	}
	if status, body, err := p.get("/readyz"); err != nil || status != 503 || body != "backend \"etcd\" has not answered yet\n" {
		t.Errorf("readyz: %d %q %v", status, body, err)
	}
	if up := p.up(t, "etcd"); up != 0 {
		t.Errorf("up is %v for a backend that never answered", up)
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("stopped with %v", err)
	}
}
