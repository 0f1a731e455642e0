package k8slease

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/leaderscope/leaderscope/instrument"
)

// lease is one won term of an elector that renews and releases by itself.
type lease struct {
	term  *instrument.Term
	token uint64
	// release stands in for the requests by which the elector releases; see
	// giveBack.
	release func(context.Context) error

	mu      sync.Mutex
	end     time.Time
	granted time.Duration
	second  int64     // of the RenewTime written last
	first   time.Time // when the first write of that second was sent
}

// win opens the term of a record that was written.
func win(at *instrument.Attempt, asked time.Time, record resourcelock.LeaderElectionRecord) *lease {
	l := &lease{token: uint64(max(record.LeaderTransitions, 0))}
	l.second, l.first = record.RenewTime.Unix(), asked
	l.extend(asked, record)
	l.term = at.Won(instrument.NewLease(func(ctx context.Context) error { return l.release(ctx) },
		instrument.Token(l.token),
		instrument.ExpiryFrom(l.expiry),
		instrument.GrantedFrom(l.length),
		instrument.RenewalsReported(),
	))
	return l
}

// asks is the instant from which the others may count the lease once this
// record is written. They distinguish records by the whole second of their
// RenewTime, so a second renewal within a second, or one whose answer was
// lost, does not make them wait longer.
func (l *lease) asks(record resourcelock.LeaderElectionRecord) time.Time {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if second := record.RenewTime.Unix(); second != l.second {
		l.second, l.first = second, now
	}
	return l.first
}

func (l *lease) extend(asked time.Time, record resourcelock.LeaderElectionRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.granted = time.Duration(record.LeaseDurationSeconds) * time.Second
	l.end = asked.Add(l.granted)
}

// expiry is the instant just before the last good request, or before the first
// of its second, plus the length that the record tells the others.
func (l *lease) expiry() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end
}

// length is that which the record tells the others, in whole seconds.
func (l *lease) length() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.granted
}

func (l *lease) renewed(sent time.Time) {
	l.term.Sink().Renewed(instrument.Renewal{Sent: sent, Expiry: l.expiry(), Granted: l.length()})
}

func (l *lease) renewalFailed(sent time.Time, err error) {
	l.term.Sink().RenewalFailedSince(sent, err)
}

func (l *lease) lost(cause error) { l.term.Sink().Lost(cause) }
