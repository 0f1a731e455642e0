package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/leaderscope/leaderscope/instrument"
)

// askTimeout bounds the questions about a lease. A term whose first is not
// answered has an unknown end until the first renewal.
const askTimeout = time.Second

var (
	// errLapsed: the lease end has passed, and the lease was not renewed.
	errLapsed = errors.New("etcdlock: lease was not renewed in time")
	// errStopped: the renewals of a lease that the server still has were stopped.
	errStopped = fmt.Errorf("etcdlock: session was orphaned: %w", context.Canceled)
	// errSessionEnded: the session has ended, and the server does not say why.
	errSessionEnded = errors.New("etcdlock: session has ended")
)

// listener hears the renewals of a session that the program keeps.
type listener struct {
	session *concurrency.Session

	mu       sync.Mutex
	end      time.Time // not later than the lease end; zero unknown
	finished time.Time // not earlier than the lease end; zero unknown
	granted  time.Duration
}

// listen asks how long the session's lease has left. The answer is in whole
// seconds, rounded down, so the end is known up to a second. A lease with less
// than a second left would look as if it had ended just before its renewal:
// its end stays unknown until then.
func listen(ctx context.Context, s *concurrency.Session) *listener {
	l := &listener{session: s}
	asked := time.Now()
	remaining, granted, err := l.ask(ctx, askTimeout)
	if err != nil {
		return l
	}
	l.granted = granted
	if remaining > 0 {
		l.end = asked.Add(remaining)
	}
	l.finished = time.Now().Add(remaining + time.Second)
	return l
}

// ask returns what the server has left of the lease, in whole seconds; not
// positive when it knows no such lease.
func (l *listener) ask(ctx context.Context, timeout time.Duration) (remaining, granted time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	resp, err := l.session.Client().TimeToLive(ctx, l.session.Lease())
	if err != nil {
		return 0, 0, err
	}
	return time.Duration(resp.TTL) * time.Second, time.Duration(resp.GrantedTTL) * time.Second, nil
}

// Expiry is the lease end as far as it is known.
func (l *listener) Expiry() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end
}

func (l *listener) length() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.granted
}

// Watch passes renewals to s until the term or the session ends. The second
// subscription shares the client's one stream, and it ends with the session:
// otherwise it would keep an orphaned lease alive. When the client was closed it
// has ended at once.
func (l *listener) Watch(ctx context.Context, s instrument.Sink) {
	session, cancel := during(ctx, l.session)
	defer cancel()

	renewals, _ := l.session.Client().KeepAlive(session, l.session.Lease())
	for resp := range renewals {
		r, ok := l.extend(time.Duration(resp.TTL) * time.Second)
		if !ok {
			// Answered in time, perhaps, and read after a suspension.
			s.Lost(errLapsed)
			return
		}
		s.Renewed(r)
	}
	if cause := l.whyEnded(ctx); ctx.Err() == nil {
		s.Lost(cause)
	}
}

// extend moves the lease end, unless it has passed. When the renewal was sent
// is not known.
func (l *listener) extend(granted time.Duration) (r instrument.Renewal, ok bool) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.finished.IsZero() && !now.Before(l.finished) {
		return instrument.Renewal{}, false
	}
	l.end, l.granted = now.Add(granted), granted
	l.finished = l.end
	return instrument.Renewal{Expiry: l.end, Granted: granted}, true
}

// whyEnded distinguishes a lease that the server has dropped from one that is
// no longer renewed. The client closes the session either way, and when it had no answer
// for the length of a lease. There is time for a question while the lease may
// still run.
func (l *listener) whyEnded(ctx context.Context) error {
	if err := l.session.Client().Ctx().Err(); err != nil {
		return fmt.Errorf("etcdlock: client was closed: %w", err)
	}
	l.mu.Lock()
	finished := l.finished
	l.mu.Unlock()
	patience := askTimeout
	if !finished.IsZero() {
		patience = min(patience, time.Until(finished))
	}
	if patience <= 0 {
		return errLapsed
	}
	switch remaining, _, err := l.ask(ctx, patience); {
	case err != nil:
		return errSessionEnded
	case remaining <= 0:
		return fmt.Errorf("etcdlock: %w", instrument.ErrSessionLost)
	default:
		return errStopped
	}
}
