package k8slease

import (
	"bytes"
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/leaderscope/leaderscope/instrument"
)

// An elector reads the whole record at each retry, so every replica can tell
// who leads: it is a witness without extra requests.

// campaigning is what the lock is a witness for.
type campaigning struct {
	every time.Duration // at most, between two readings of a standby
	lease time.Duration // the longest that a holder's record told

	ctx   context.Context // of the attempts
	stop  func() bool     // has the end of ctx end nothing any longer
	ended func()          // takes the identity back
}

// sighting is the record as it was seen last, and since when.
type sighting struct {
	raw []byte
	at  time.Time
}

// sighted is when the record was first seen as it is now.
func (l *ResourceLock) sighted(raw []byte) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !bytes.Equal(raw, l.seen.raw) || l.seen.at.IsZero() {
		l.seen = sighting{raw, time.Now()}
	}
	return l.seen.at
}

// lengthOf is the length of the lease in whole seconds, as the record has it.
func lengthOf(record *resourcelock.LeaderElectionRecord) time.Duration {
	return time.Duration(record.LeaseDurationSeconds) * time.Second
}

// readRecord is a Get, whose answer is exported.
func (l *ResourceLock) readRecord(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.inner.Get(ctx)
	switch {
	case err == nil:
		l.read(record, raw)
	case apierrors.IsNotFound(err):
		l.show(instrument.BackendView{State: instrument.BackendVacant})
	case ctx.Err() == nil:
		l.show(instrument.BackendView{}) // the caller's own end says nothing about the server
	}
	return record, raw, err
}

// read shows a record that was read. The lease of another runs from the moment
// when the record was first seen like this, which is client-go's own rule; the
// clocks of others are not compared.
func (l *ResourceLock) read(record *resourcelock.LeaderElectionRecord, raw []byte) {
	end := l.sighted(raw).Add(lengthOf(record))
	l.mu.Lock()
	held := l.held
	l.mu.Unlock()
	if held != nil && record.HolderIdentity == l.Identity() {
		end = held.expiry()
	}
	l.showRecord(record, end)
}

// wrote shows a record that was written by its holder, this process.
func (l *ResourceLock) wrote(held *lease, record resourcelock.LeaderElectionRecord) {
	l.showRecord(&record, held.expiry())
}

// freed shows a record that was written to release.
func (l *ResourceLock) freed(record resourcelock.LeaderElectionRecord) {
	l.showRecord(&record, time.Time{})
}

func (l *ResourceLock) showRecord(record *resourcelock.LeaderElectionRecord, end time.Time) {
	view := instrument.BackendView{State: instrument.BackendVacant, Token: uint64(max(record.LeaderTransitions, 0)), Counted: true}
	if record.HolderIdentity != "" { // a released record has a length of a second, which is no lease
		view.State, view.Holder, view.Expiry, view.Granted = instrument.BackendHeld, record.HolderIdentity, end, lengthOf(record)
		l.mu.Lock()
		l.campaign.lease = max(l.campaign.lease, view.Granted)
		l.mu.Unlock()
	}
	l.show(view)
}

// show reports a reading, which is believed for the length of a lease: an elector
// that did not look for so long has stopped, or hangs.
func (l *ResourceLock) show(view instrument.BackendView) {
	l.mu.Lock()
	view.Every, view.ValidFor = l.campaign.every, max(l.campaign.lease, l.campaign.every)
	l.mu.Unlock()
	l.election.ObserveBackend(view)
}

// join notes that the elector campaigns, until it leaves or until the context
// of its attempts ends without a term.
func (l *ResourceLock) join(ctx context.Context) {
	if ctx == nil {
		return
	}
	l.mu.Lock()
	c := &l.campaign
	joined, same := c.ended != nil, c.ctx == ctx
	if !same {
		if c.stop != nil {
			c.stop()
		}
		c.ctx, c.stop = ctx, context.AfterFunc(ctx, func() { l.gaveUpCampaign(ctx) })
	}
	l.mu.Unlock()
	if joined {
		return
	}
	ended := l.election.Identify(l.Identity())
	l.mu.Lock()
	c.ended = ended
	l.mu.Unlock()
}

// gaveUpCampaign is the end of the context of attempts. client-go ends it also
// when it has won.
func (l *ResourceLock) gaveUpCampaign(ctx context.Context) {
	l.mu.Lock()
	finished := l.campaign.ctx == ctx && l.held == nil && l.ending == nil
	l.mu.Unlock()
	if finished {
		l.leave()
	}
}

// leave notes that this replica no longer polls.
func (l *ResourceLock) leave() {
	l.mu.Lock()
	c := &l.campaign
	ended, stop := c.ended, c.stop
	c.ended, c.stop, c.ctx = nil, nil, nil
	l.mu.Unlock()
	if stop != nil {
		stop()
	}
	if ended != nil {
		ended()
		l.election.ObserveBackend(instrument.BackendView{State: instrument.BackendUnwatched})
	}
}
