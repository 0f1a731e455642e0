package etcdlock

import (
	"sync"

	"go.etcd.io/etcd/client/v3/concurrency"
)

// term is one on a session of the caller. etcd takes all attempts of a session
// below a prefix for one candidate, and has one key for it: it tells several of
// them at once that they have won.
type term struct {
	session *concurrency.Session
	key     string
	created int64 // the revision that made the key
}

// terms are those of this process that have not been released.
var terms struct {
	mu  sync.Mutex
	all []*term
}

// enter reports whether no other term holds the key.
func (t *term) enter() bool {
	terms.mu.Lock()
	defer terms.mu.Unlock()
	var open []*term
	for _, other := range terms.all {
		switch {
		case ended(other.session): // and its keys are gone
		case *other == *t:
			return false
		default:
			open = append(open, other)
		}
	}
	terms.all = append(open, t)
	return true
}

// leave reports whether the key is not that of another term by now.
func (t *term) leave() bool {
	terms.mu.Lock()
	defer terms.mu.Unlock()
	for i, other := range terms.all {
		if other == t {
			terms.all = append(terms.all[:i:i], terms.all[i+1:]...)
			return true
		}
		if *other == *t {
			return false
		}
	}
	return true
}

// held reports whether a term holds that key of the session.
func held(s *concurrency.Session, key string, created int64) bool {
	terms.mu.Lock()
	defer terms.mu.Unlock()
	for _, other := range terms.all {
		if *other == (term{s, key, created}) {
			return true
		}
	}
	return false
}
