//go:build unix

package main

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// receiver is the other side: it accepts webhooks, or not, by their path.
type receiver struct {
	base   string
	server *http.Server

	mu       sync.Mutex
	received map[string]int  // by Idempotency-Key
	held     map[string]bool // received, and not answered
}

func newReceiver() (*receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{base: "http://" + listener.Addr().String(), received: map[string]int{}, held: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /fine", func(w http.ResponseWriter, req *http.Request) { r.count(req) })
	mux.HandleFunc("POST /moody", func(w http.ResponseWriter, req *http.Request) {
		if r.count(req) < 3 {
			http.Error(w, "not now", http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("POST /broken", func(w http.ResponseWriter, req *http.Request) {
		r.count(req)
		http.Error(w, "never", http.StatusInternalServerError)
	})
	// The first time it has its effect, and the answer does not come.
	mux.HandleFunc("POST /silent", func(w http.ResponseWriter, req *http.Request) {
		if r.count(req) == 1 {
			r.hold(req, true)
			<-req.Context().Done()
			r.hold(req, false)
		}
	})
	r.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go r.server.Serve(listener)
	return r, nil
}

func (r *receiver) close() { r.server.Close() }

func (r *receiver) count(req *http.Request) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := req.Header.Get("Idempotency-Key")
	r.received[key]++
	return r.received[key]
}

func (r *receiver) hold(req *http.Request, held bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held[req.Header.Get("Idempotency-Key")] = held
}

// times is how often a webhook was received.
func (r *receiver) times(key string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.received[key]
}

// holds reports whether a webhook was received and waits for its answer.
func (r *receiver) holds(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held[key]
}
