package instrument

import (
	"sync"
	"sync/atomic"

	"github.com/leaderscope/leaderscope/redact"
)

// Elections finds the handle of a lock by its name, where names come up at run
// time: a lock per tenant, per job, per document. Looking up a name again
// costs no more than a map. It is safe for concurrent use.
//
// Memory is bounded, however many names there are. A name with a label of its
// own has a handle of its own, of which WithMaxLabels allows so many; names
// that share a label share a handle, and so do all that overflow. Names are
// not kept, only seeded digests of them.
type Elections struct {
	m       *Middleware
	digests digester
	known   atomic.Pointer[table]
	opts    []ElectionOption

	mu         sync.Mutex
	own        map[*Election]digest
	shared     map[sharing]*Election
	remembered int       // names in known that have a shared handle
	set        *settings // of the last handle, whose label had this family
	family     string
}

// sharing is what handles of several names have in common.
type sharing struct{ label, family string }

// maxRemembered bounds the names whose shared handle is found without making
// their label again.
const maxRemembered = 1 << 14

// Elections makes a look-up of handles that all have these options. One for
// each kind of lock is meant to live as long as the middleware.
func (m *Middleware) Elections(opts ...ElectionOption) *Elections {
	es := &Elections{m: m, digests: m.digests, opts: opts, own: map[*Election]digest{}, shared: map[sharing]*Election{}}
	es.known.Store(newTable(0))
	return es
}

// Of returns the handle of the lock of that name, and makes it at first sight.
// Its series exist from then on. Once more names share labels than are
// remembered, a name beyond the cap counts as folded each time it comes up.
func (es *Elections) Of(name string) *Election {
	d := es.digests.of(name)
	if e := es.known.Load().find(d); e != nil {
		return e
	}
	return es.first(name, d)
}

func (es *Elections) first(name string, d digest) *Election {
	label := es.m.label(name)
	created := es.m.wall()

	es.mu.Lock()
	defer es.mu.Unlock()
	if known := es.known.Load().find(d); known != nil {
		return known
	}
	es.m.mu.Lock()
	defer es.m.mu.Unlock()
	s := es.m.place(label, d, created)
	if es.m.closed {
		return es.join(label, s)
	}
	if !label.Shared && s.label != redact.Overflow {
		e := es.join(label, s)
		es.own[e] = d
		es.remember(d, e)
		return e
	}
	key := sharing{s.label, label.Family}
	e := es.shared[key]
	if e == nil || e.s != s {
		e = es.join(label, s)
		es.shared[key] = e
	}
	if es.remembered < maxRemembered {
		es.remembered++
		es.remember(d, e)
	}
	return e
}

// join makes a handle of a series. The caller holds the mutex of es and of m.
func (es *Elections) join(label redact.Label, s *series) *Election {
	if es.set == nil || es.family != label.Family {
		es.set, es.family = es.m.shared(newSettings(label, es.opts)), label.Family
	}
	return es.m.join(es, s, es.set)
}

// Forget retires a name: a handle of its own ends as by Election.Forget, and
// its label makes room. Of a handle that names share nothing goes, since it
// counts for the others too. A later Of begins anew.
func (es *Elections) Forget(name string) {
	d := es.digests.of(name)
	es.mu.Lock()
	e := es.known.Load().find(d)
	_, own := es.own[e]
	if e != nil && !own {
		es.known.Load().remove(d)
		es.remembered--
	}
	es.mu.Unlock()
	if own {
		e.Forget()
	}
}

// drop is told of a handle that was forgotten.
func (es *Elections) drop(e *Election) {
	es.mu.Lock()
	defer es.mu.Unlock()
	if d, own := es.own[e]; own {
		delete(es.own, e)
		es.known.Load().remove(d)
		return
	}
	for key, shared := range es.shared {
		if shared == e {
			delete(es.shared, key)
		}
	}
	es.remembered -= es.known.Load().removeAll(e)
}

// remember adds a name to the table, in a larger one when it is half full.
func (es *Elections) remember(d digest, e *Election) {
	t := es.known.Load()
	if 2*(t.used+1) > len(t.slots) {
		t = t.rebuilt()
		es.known.Store(t)
	}
	t.put(d, e)
}
