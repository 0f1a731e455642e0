package natskv

import (
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/leaderscope/leaderscope/instrument"
)

// witness tells an election what the watch of a standby shows of the key: who
// holds it, and each of its updates.
type witness struct {
	election *instrument.Election
	ttl      time.Duration
	term     string // the word of the term that was seen last
	began    uint64 // its first revision, if that was seen
	watching bool   // something was told
	snapshot bool   // the watch has shown all that was there when it was opened
}

// sees takes what the watch has shown: an entry, the end of what was there when
// it was opened, or the end of the watch. current says that there was a value.
func (w *witness) sees(entry jetstream.KeyValueEntry, open, current bool) {
	switch {
	case !open:
		w.snapshot = false
		w.notify(instrument.BackendView{})
	case entry == nil:
		w.snapshot = true
		if !current {
			w.notify(instrument.BackendView{State: instrument.BackendVacant})
		}
	case entry.Operation() != jetstream.KeyValuePut:
		w.term = ""
		w.notify(instrument.BackendView{State: instrument.BackendVacant})
	default:
		w.holds(string(entry.Value()), entry.Revision())
	}
}

// holds takes a value: the holder, a space, and a word for the term. A term of
// which the first revision was seen has that for its token, as its leader has.
// A bucket drops what was not updated for as long as its TTL; what is not heard
// of for so long is no longer known.
func (w *witness) holds(value string, revision uint64) {
	holder, term := value, value
	if i := strings.LastIndexByte(value, ' '); i >= 0 {
		holder = value[:i]
	}
	if term != w.term {
		w.began = 0
		if w.snapshot {
			w.began = revision
		}
		w.term = term
	}
	w.notify(w.held(holder, w.began))
}

func (w *witness) held(holder string, began uint64) instrument.BackendView {
	view := instrument.BackendView{State: instrument.BackendHeld, Holder: holder, Token: began, Counted: began != 0}
	if w.ttl > 0 {
		view.Expiry, view.Granted, view.ValidFor = time.Now().Add(w.ttl), w.ttl, w.ttl
	}
	return view
}

// wins is the end of the wait, which a watch that was not opened yet had no part in.
func (w *witness) wins(holder string, revision uint64) {
	if w.watching {
		w.notify(w.held(holder, revision))
	}
}

func (w *witness) notify(v instrument.BackendView) {
	w.watching = true
	w.election.ObserveBackend(v)
}

// leaves reports that this replica no longer watches.
func (w *witness) leaves() {
	if w.watching {
		w.election.ObserveBackend(instrument.BackendView{State: instrument.BackendUnwatched})
	}
}
