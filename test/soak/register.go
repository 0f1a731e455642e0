package main

import (
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/leaderscope/leaderscope/instrument/fence"
)

// store is a fencing register: it admits writes whose token is not lower than
// the highest that it has seen, and notes who wrote. It is safe for concurrent
// use.
type store struct {
	start    time.Time
	guard    *fence.Guard
	listener net.Listener
	server   *http.Server

	mu     sync.Mutex
	writes []write
}

// write is one that arrived.
type write struct {
	At      time.Duration
	Holder  string
	Refused bool // its token was too low
}

func newStore(start time.Time) (*store, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &store{start: start, guard: fence.New(nil), listener: l}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: time.Second}
	go func() { _ = s.server.Serve(l) }()
	return s, nil
}

func (s *store) url() string { return "http://" + s.listener.Addr().String() }

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	got := write{At: onWall(s.start, time.Now()), Holder: r.FormValue("id")}
	if token, err := strconv.ParseUint(r.FormValue("token"), 10, 64); err == nil && s.guard.Check(token) != nil {
		got.Refused = true
		w.WriteHeader(http.StatusConflict)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes = append(s.writes, got)
}

func (s *store) all() []write {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

func (s *store) close() { _ = s.server.Close() }
