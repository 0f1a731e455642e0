package etcdlock

import (
	"slices"
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

// terms are those of this process that have not been released, or are being.
var terms struct {
	mu  sync.Mutex
	all []*term
	// gone has the last term of each key whose key was deleted. An attempt may
	// have seen it before, and must not take it for its own.
	gone []*term
}

// enter reports whether no other term holds the key, or has given it back.
func (t *term) enter() bool {
	terms.mu.Lock()
	defer terms.mu.Unlock()
	terms.gone = slices.DeleteFunc(terms.gone, func(other *term) bool { return ended(other.session) })
	for _, other := range terms.gone {
		if other.ofSameKey(t) && t.created <= other.created {
			return false
		}
	}
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

// free gives the key back by remove, unless it is that of a later term by now.
// Until remove has returned, no other term enters: it would win a key that is
// about to go.
func (t *term) free(remove func() error) error {
	if !t.stay() {
		return nil
	}
	err := remove()
	t.leave(err == nil || err == errDeleted)
	return err
}

// stay has others find the term, and reports whether no later one has the key.
func (t *term) stay() bool {
	terms.mu.Lock()
	defer terms.mu.Unlock()
	for _, other := range terms.all {
		if *other == *t {
			return other == t
		}
	}
	terms.all = append(terms.all, t)
	return true
}

func (t *term) leave(gone bool) {
	terms.mu.Lock()
	defer terms.mu.Unlock()
	terms.all = slices.DeleteFunc(terms.all, func(other *term) bool { return other == t })
	if gone {
		terms.gone = append(slices.DeleteFunc(terms.gone, t.ofSameKey), t)
	}
}

func (t *term) ofSameKey(other *term) bool { return t.session == other.session && t.key == other.key }

// keysOf are the keys of the session that terms hold or are giving back.
func keysOf(s *concurrency.Session) (keys []string) {
	terms.mu.Lock()
	defer terms.mu.Unlock()
	for _, t := range terms.all {
		if t.session == s {
			keys = append(keys, t.key)
		}
	}
	return keys
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
