package etcdlock

import (
	"context"
	"sync"
	"time"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/leaderscope/leaderscope/instrument"
)

// askTimeout bounds the question for the lease end. A term without an answer
// has an unknown end until the first renewal.
const askTimeout = time.Second

// leaseEnd asks how long the session's lease has left. The answer is in whole
// seconds, rounded down; taken at its word it would end short leases before
// their first renewal, and count an overrun that never was.
func leaseEnd(ctx context.Context, s *concurrency.Session) time.Time {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	asked := time.Now()
	resp, err := s.Client().TimeToLive(ctx, s.Lease())
	if err != nil {
		return time.Time{}
	}
	return asked.Add(time.Duration(max(resp.TTL+1, 0)) * time.Second)
}

// listener hears the renewals of a session that somebody else keeps.
type listener struct {
	session *concurrency.Session

	mu  sync.Mutex
	end time.Time
}

// Expiry is the lease end as far as it is known.
func (l *listener) Expiry() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end
}

// Watch passes renewals to s until the term or the session ends. The second
// subscription shares the client's one stream, and it hangs on the session's
// context: with any other it would keep an orphaned lease alive.
func (l *listener) Watch(ctx context.Context, s instrument.Sink) {
	session, cancel := context.WithCancel(l.session.Ctx())
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()

	renewals, err := l.session.Client().KeepAlive(session, l.session.Lease())
	if err != nil {
		s.RenewalFailed(err)
		return
	}
	for resp := range renewals {
		end, ok := l.extend(time.Duration(resp.TTL) * time.Second)
		if !ok {
			// Answered in time, perhaps, and read after a suspension.
			s.Lost(errLapsed)
			return
		}
		s.Renewed(end)
	}
}

// extend moves the lease end, unless it has passed.
func (l *listener) extend(ttl time.Duration) (end time.Time, ok bool) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.end.IsZero() && !now.Before(l.end) {
		return l.end, false
	}
	l.end = now.Add(ttl)
	return l.end, true
}
