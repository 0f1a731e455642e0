package raftlead

import (
	"cmp"
	"context"
	"sync"

	"github.com/hashicorp/raft"

	"github.com/leaderscope/leaderscope/instrument"
)

// Observe reports the leadership of r to e until stop is called: each term
// with its number as the fencing token, and each candidacy that did not win,
// as contended. A term that ends because r shuts down is canceled, any other
// is lost.
//
// Every node is also a witness: it reports the leader that it knows, which Raft
// tells it in any case. A node that knows no leader may be cut off, so the state of
// the cluster is unknown then, not vacant.
//
// Raft calls the observer while it changes its state and waits until the
// observer has returned, so no change is missed, and none is late. After stop
// the last leadership remains, and the node is a witness no longer; call Forget on
// the election if it has ended. With a nil e or r nothing is observed.
func Observe(e *instrument.Election, r *raft.Raft) (stop func()) {
	if e == nil || r == nil {
		return func() {}
	}
	o := &observer{election: e, raft: r}
	// A nil channel: everything happens in the filter, which sees every
	// observation, where a channel that is full would lose some.
	handle := raft.NewObserver(nil, false, func(seen *raft.Observation) bool {
		switch seen.Data.(type) {
		case raft.RaftState, raft.LeaderObservation:
			o.report()
		}
		return false
	})
	r.RegisterObserver(handle)
	o.report()
	return func() {
		r.DeregisterObserver(handle) // waits for a report that runs
		o.leave()
	}
}

type observer struct {
	election *instrument.Election
	raft     *raft.Raft

	mu    sync.Mutex
	last  raft.RaftState
	ended func() // takes the identity back
}

// report reads the state instead of taking the one that was observed: the
// first report, which was not observed, cannot overtake another then.
func (o *observer) report() {
	o.mu.Lock()
	defer o.mu.Unlock()
	state := o.raft.State()
	switch state {
	case raft.Leader:
		o.election.ObserveLeading(instrument.Leadership{Token: o.raft.CurrentTerm(), Fenced: true})
	case raft.Shutdown:
		o.election.ObserveNotLeading(context.Canceled)
	default:
		o.election.ObserveNotLeading(nil)
	}
	if o.last == raft.Candidate && state == raft.Follower {
		o.election.Begin(context.Background()).NotAcquired(instrument.ErrContended)
	}
	o.last = state
	o.witness(state)
}

// witness reports the leader that this node knows. Raft forgets it with each
// change of its state. A node learns its own ID only as a leader: Raft does not
// expose it.
func (o *observer) witness(state raft.RaftState) {
	if state == raft.Shutdown {
		o.unwatch()
		return
	}
	leader, term := o.leader()
	if leader == "" {
		o.election.ObserveBackend(instrument.BackendView{})
		return
	}
	if state == raft.Leader && o.ended == nil {
		o.ended = o.election.Identify(leader)
	}
	o.election.ObserveBackend(instrument.BackendView{State: instrument.BackendHeld, Holder: leader, Token: term, Counted: true})
}

// leader is the ID of the leader, or its address where the protocol has no ID, and
// its term. The first report does not run in Raft's own goroutine, so the term may
// change while it reads.
func (o *observer) leader() (id string, term uint64) {
	for {
		term = o.raft.CurrentTerm()
		address, server := o.raft.LeaderWithID()
		if o.raft.CurrentTerm() == term {
			return cmp.Or(string(server), string(address)), term
		}
	}
}

func (o *observer) leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unwatch()
}

// unwatch is the end of what this node witnesses.
func (o *observer) unwatch() {
	if o.ended != nil {
		o.ended()
	}
	o.ended = nil
	o.election.ObserveBackend(instrument.BackendView{State: instrument.BackendUnwatched})
}
