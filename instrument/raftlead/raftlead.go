package raftlead

import (
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
// Raft calls the observer while it changes its state and waits until the
// observer has returned, so no change is missed, and none is late. After stop
// the last state remains; call Forget on the election if it has ended. With a nil
// e or r nothing is observed.
func Observe(e *instrument.Election, r *raft.Raft) (stop func()) {
	if e == nil || r == nil {
		return func() {}
	}
	o := &observer{election: e, raft: r}
	// A nil channel: everything happens in the filter, which sees every
	// observation, where a channel that is full would lose some.
	handle := raft.NewObserver(nil, false, func(seen *raft.Observation) bool {
		if _, changed := seen.Data.(raft.RaftState); changed {
			o.report()
		}
		return false
	})
	r.RegisterObserver(handle)
	o.report()
	return func() { r.DeregisterObserver(handle) }
}

type observer struct {
	election *instrument.Election
	raft     *raft.Raft

	mu   sync.Mutex
	last raft.RaftState
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
}
