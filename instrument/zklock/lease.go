package zklock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/leaderscope/leaderscope/instrument"
)

// lookEvery is how often a node is looked at when the session's timeout is
// unknown.
const lookEvery = 2 * time.Second

// errClosed ends the term of a connection that the program closed.
var errClosed = fmt.Errorf("zklock: connection was closed: %w", context.Canceled)

// lease is a node that holds a lock. The client keeps the session alive where
// it is not seen; looking at the node does too, and shows that it is there.
type lease struct {
	conn     client
	session  *Session
	ended    <-chan struct{}
	changed  <-chan zk.Event // of the node, one event
	node     string
	created  int64 // zxid
	end      time.Time
	finished func() // called at the end of the term; nil: no caller needs it
}

// watched looks at the node for the first time.
func watched(conn client, s *Session, ended <-chan struct{}, node string) (*lease, error) {
	l := &lease{conn: conn, session: s, ended: ended, node: node}
	asked := time.Now()
	if _, err := conn.Sync(node); err != nil {
		return nil, err
	}
	there, stat, changed, err := conn.ExistsW(node)
	if err != nil {
		return nil, err
	}
	if !there || stat.EphemeralOwner != conn.SessionID() {
		return nil, fmt.Errorf("node is gone: %w", instrument.ErrSessionLost)
	}
	l.created, l.end, l.changed = stat.Czxid, l.endFrom(asked), changed
	return l, nil
}

// endFrom is the lease end after an answer to what was asked at that time;
// zero when the session's timeout is unknown.
func (l *lease) endFrom(asked time.Time) time.Time {
	if d := l.session.granted(); d > 0 {
		return asked.Add(d)
	}
	return time.Time{}
}

func (l *lease) lease(release func(context.Context) error) instrument.Lease {
	return instrument.NewLease(release,
		instrument.Token(uint64(l.created)),
		instrument.ExpiryFrom(func() time.Time { return l.end }),
		instrument.GrantedFrom(l.session.granted),
		instrument.WatchWith(l.watch),
	)
}

// watch looks at the node three times in each timeout, when it has changed, and
// when another connection has the session. An answer is a renewal, also after the
// lease end: as long as the node is there, no other holder had the lock.
func (l *lease) watch(ctx context.Context, s instrument.Sink) {
	if l.finished != nil {
		defer l.finished()
	}
	tick := time.NewTimer(l.every())
	changed, resumed := l.changed, l.session.resumed()
	for {
		deleted := false
		select {
		case <-ctx.Done():
			return
		case <-l.ended:
			s.Lost(zk.ErrSessionExpired)
			return
		case event := <-changed:
			if errors.Is(event.Err, zk.ErrClosing) {
				s.Lost(errClosed)
				return
			}
			changed, deleted = nil, event.Type == zk.EventNodeDeleted
		case <-resumed: // the lease may have ended meanwhile, and the session did not
			resumed = l.session.resumed()
		case <-tick.C:
		}
		tick.Reset(l.every())
		asked := time.Now()
		err, answered := l.readRecord(ctx)
		switch {
		case !answered:
		case deleted && errors.Is(err, zk.ErrConnectionClosed):
			s.Lost(errClosed) // whose session the server has closed, and the node with it
			return
		case deleted && errors.Is(err, instrument.ErrSessionLost):
			s.Lost(err)
			return
		case err == nil:
			s.Renewed(instrument.Renewal{Sent: asked, Expiry: l.endFrom(asked), Granted: l.session.granted()})
		default:
			s.RenewalFailedSince(asked, err) // and lost, if that is what it says
		}
	}
}

// every is how often the node is looked at: the next server may grant another
// timeout.
func (l *lease) every() time.Duration {
	if d := l.session.granted() / 3; d > 0 {
		return d
	}
	return lookEvery
}

// readRecord asks in the background, since the call takes no context. answered is
// false when the term or the session ended first. A follower answers from its
// own copy, which may be old when it is cut off from the others: Sync goes to
// their leader.
func (l *lease) readRecord(ctx context.Context) (err error, answered bool) {
	answer := make(chan error, 1)
	go func() { answer <- l.verify() }()
	select {
	case <-ctx.Done():
		return nil, false
	case <-l.ended:
		return nil, false
	case err := <-answer:
		return err, true
	}
}

func (l *lease) verify() error {
	if _, err := l.conn.Sync(l.node); err != nil {
		return err
	}
	there, stat, err := l.conn.Exists(l.node)
	if err == nil && (!there || stat.Czxid != l.created) {
		err = fmt.Errorf("zklock: node is gone: %w", instrument.ErrSessionLost)
	}
	return err
}
