package zklock

import (
	"path"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/leaderscope/leaderscope/instrument"
)

// witness tells an election what a standby sees of the queue. Each candidate
// watches the one before it, so the second in the queue sees the holder go; the
// others behind it do not, and tell nothing.
type witness struct {
	election *instrument.Election
	deaf     func() // receives no event of the session any longer
	ended    func() // takes the identity back
	own      string // the candidate's node

	mu    sync.Mutex
	view  instrument.BackendView // while the holder is watched
	tells bool                   // something was told, and not taken back
}

// newWitness makes the witness of a candidate that is in the queue. Nodes are
// the identities: what a holder has written into its node would have to be
// asked for.
func newWitness(e *instrument.Election, s *Session, c *candidate) *witness {
	w := &witness{election: e, own: path.Base(c.node)}
	w.ended = e.Identify(w.own)
	w.deaf = s.listen(w)
	return w
}

// waitsFor takes the node before the candidate's, and whether it holds the lock.
func (w *witness) waitsFor(node string, stat *zk.Stat, holds bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !holds {
		w.takeBack()
		return
	}
	w.view = instrument.BackendView{State: instrument.BackendHeld, Holder: path.Base(node), Token: uint64(stat.Czxid), Counted: true}
	w.notify(w.view)
}

// wins is the end of the wait. The identity stays until over is called.
func (w *witness) wins(created int64) (finished func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tells {
		w.notify(instrument.BackendView{State: instrument.BackendHeld, Holder: w.own, Token: uint64(created), Counted: true})
	}
	finished, w.ended = w.ended, func() {}
	return finished
}

// connection takes the state of the connection. The client sets its watches
// again on the next one, and they tell what was missed.
func (w *witness) connection(state zk.State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case !w.tells:
	case state == zk.StateHasSession:
		w.notify(w.view)
	case state == zk.StateDisconnected, state == zk.StateExpired:
		w.notify(instrument.BackendView{})
	}
}

// leaves reports that this replica no longer watches.
func (w *witness) leaves() {
	w.deaf()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.takeBack()
	w.ended()
}

func (w *witness) notify(v instrument.BackendView) {
	w.tells = true
	w.election.ObserveBackend(v)
}

func (w *witness) takeBack() {
	if w.tells {
		w.tells = false
		w.election.ObserveBackend(instrument.BackendView{State: instrument.BackendUnwatched})
	}
}
