package consullock

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
	"go.uber.org/goleak"

	"github.com/leaderscope/leaderscope/instrument/electtest/tcpproxy"
)

// TestMain allows what was begun in the background some time: a server that is
// gone is asked for twice the TTL.
func TestMain(m *testing.M) {
	code := m.Run()
	var leaked error
	for deadline := time.Now().Add(4 * ttl); time.Now().Before(deadline); time.Sleep(ttl / 20) {
		if leaked = goleak.Find(); leaked == nil {
			os.Exit(code)
		}
	}
	fmt.Fprintln(os.Stderr, leaked)
	os.Exit(1)
}

// server answers as Consul's HTTP API does, as far as locks use it: sessions
// with a TTL, keys with sessions and indexes, and queries that wait for an
// index. It is no Consul: no Raft, no lock delay, and a session ends with its
// TTL, which Consul may double.
type server struct {
	mu       sync.Mutex
	index    uint64
	changed  chan struct{} // closed at every change
	serial   int
	sessions map[string]*timed
	keys     map[string]*api.KVPair
	down     bool // answers 500 to everything
	url      string
}

type timed struct {
	api.SessionEntry
	timer *time.Timer
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{index: 1, changed: make(chan struct{}), sessions: map[string]*timed{}, keys: map[string]*api.KVPair{}}
	h := httptest.NewServer(s)
	s.url = h.URL
	t.Cleanup(func() {
		time.Sleep(wait) // for the last answers to be read
		h.CloseClientConnections()
		h.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, k := range s.sessions {
			k.timer.Stop()
		}
	})
	return s
}

// client is one process.
func (s *server) client(t testing.TB) (*api.Client, *Sessions) {
	t.Helper()
	return s.clientAt(t, s.url)
}

// distant is one process whose connections a test can cut.
func (s *server) distant(t testing.TB) (*api.Client, *Sessions, *tcpproxy.Proxy) {
	t.Helper()
	way := tcpproxy.New(t, strings.TrimPrefix(s.url, "http://"))
	c, sessions := s.clientAt(t, "http://"+way.Address())
	return c, sessions, way
}

func (s *server) clientAt(t testing.TB, url string) (*api.Client, *Sessions) {
	t.Helper()
	config := api.DefaultConfig()
	config.Address = url
	c, sessions, err := NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	return c, sessions
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		http.Error(w, "No cluster leader", http.StatusInternalServerError)
		return
	}
	if call, ok := strings.CutPrefix(r.URL.Path, "/v1/session/"); ok {
		s.session(w, r, call)
		return
	}
	key := strings.TrimPrefix(r.URL.Path, "/v1/kv/")
	switch r.Method {
	case http.MethodGet:
		s.get(w, r, key)
	case http.MethodPut:
		s.put(w, r, key)
	case http.MethodDelete:
		delete(s.keys, key)
		s.change()
		reply(w, true)
	}
}

func (s *server) change() {
	s.index++
	close(s.changed)
	s.changed = make(chan struct{})
}

func reply(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }

func (s *server) session(w http.ResponseWriter, r *http.Request, call string) {
	call, id, _ := strings.Cut(call, "/")
	known := s.sessions[id]
	switch {
	case call == "create":
		s.serial++
		id = fmt.Sprintf("00000000-0000-0000-0000-%012d", s.serial)
		k := &timed{}
		_ = json.NewDecoder(r.Body).Decode(&k.SessionEntry)
		k.ID = id
		ttl, _ := time.ParseDuration(k.TTL)
		k.timer = time.AfterFunc(ttl, func() { s.expire(id) })
		s.sessions[id] = k
		reply(w, map[string]string{"ID": id})
	case call == "renew" && known == nil:
		http.Error(w, "Session id \""+id+"\" not found", http.StatusNotFound)
	case call == "renew":
		ttl, _ := time.ParseDuration(known.TTL)
		known.timer.Reset(ttl)
		reply(w, []api.SessionEntry{known.SessionEntry})
	case call == "destroy":
		s.invalidate(id)
		reply(w, true)
	}
}

// expire ends a session as its TTL does.
func (s *server) expire(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.invalidate(id)
}

func (s *server) invalidate(id string) {
	k := s.sessions[id]
	if k == nil {
		return
	}
	k.timer.Stop()
	delete(s.sessions, id)
	for key, pair := range s.keys {
		switch {
		case pair.Session != id:
		case k.Behavior == api.SessionBehaviorDelete:
			delete(s.keys, key)
		default:
			pair.Session = ""
			pair.ModifyIndex = s.index + 1
		}
	}
	s.change()
}

func (s *server) get(w http.ResponseWriter, r *http.Request, key string) {
	q := r.URL.Query()
	after, _ := strconv.ParseUint(q.Get("index"), 10, 64)
	wait, err := time.ParseDuration(q.Get("wait"))
	if err != nil {
		wait = 5 * time.Minute
	}
	_, recurse := q["recurse"]
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for waiting := true; waiting && after > 0 && s.index <= after && !s.down; {
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-timer.C:
			waiting = false
		case <-r.Context().Done():
			waiting = false
		}
		s.mu.Lock()
	}
	if s.down {
		http.Error(w, "No cluster leader", http.StatusInternalServerError)
		return
	}
	var found []*api.KVPair
	for k, pair := range s.keys {
		if k == key || recurse && strings.HasPrefix(k, key) {
			found = append(found, pair)
		}
	}
	w.Header().Set("X-Consul-Index", strconv.FormatUint(s.index, 10))
	if len(found) == 0 {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	reply(w, found)
}

func (s *server) put(w http.ResponseWriter, r *http.Request, key string) {
	q := r.URL.Query()
	value, _ := io.ReadAll(r.Body)
	pair := s.keys[key]
	if id := q.Get("acquire"); id != "" && s.sessions[id] == nil {
		http.Error(w, "invalid session \""+id+"\"", http.StatusInternalServerError)
		return
	} else if id != "" && pair != nil && pair.Session != "" && pair.Session != id {
		reply(w, false)
		return
	}
	if id := q.Get("release"); id != "" && (pair == nil || pair.Session != id) {
		reply(w, false)
		return
	}
	if q.Has("cas") {
		want, _ := strconv.ParseUint(q.Get("cas"), 10, 64)
		if pair == nil && want != 0 || pair != nil && pair.ModifyIndex != want {
			reply(w, false)
			return
		}
	}
	if pair == nil {
		pair = &api.KVPair{Key: key, CreateIndex: s.index + 1}
		s.keys[key] = pair
	}
	pair.Value, pair.ModifyIndex = value, s.index+1
	pair.Flags, _ = strconv.ParseUint(q.Get("flags"), 10, 64)
	if id := q.Get("acquire"); id != "" && pair.Session != id {
		pair.Session = id
		pair.LockIndex++
	}
	if q.Get("release") != "" {
		pair.Session = ""
	}
	s.change()
	reply(w, true)
}

// drop takes a key from its holder, as an operator does.
func (s *server) drop(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pair := s.keys[key]; pair != nil {
		pair.Session = ""
		pair.ModifyIndex = s.index + 1
	}
	s.change()
}

// give gives a key to another session.
func (s *server) give(key, session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pair := s.keys[key]
	pair.Session, pair.ModifyIndex = session, s.index+1
	pair.LockIndex++
	s.change()
}

// remove deletes a key.
func (s *server) remove(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.keys, key)
	s.change()
}

func (s *server) setDown(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
	s.change()
}

// holder is the session that has the key.
func (s *server) holder(key string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pair := s.keys[key]; pair != nil {
		return pair.Session
	}
	return ""
}

func (s *server) sessionCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}
