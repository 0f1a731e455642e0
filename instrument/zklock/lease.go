package zklock

import (
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/leaderscope/leaderscope/instrument"
)

// lookEvery is how often a node is looked at when the session's timeout is
// unknown.
const lookEvery = 2 * time.Second

// lease is a node that holds a lock. The client keeps the session alive where
// nobody sees it; looking at the node does too, and shows that it is there.
type lease struct {
	conn    client
	session *Session
	ended   <-chan struct{}
	node    string
	created int64 // zxid
	end     time.Time
}

// watched looks at the node for the first time.
func watched(conn client, s *Session, ended <-chan struct{}, node string) (*lease, error) {
	l := &lease{conn: conn, session: s, ended: ended, node: node}
	asked := time.Now()
	there, stat, err := conn.Exists(node)
	if err != nil {
		return nil, err
	}
	if !there || stat.EphemeralOwner != conn.SessionID() {
		return nil, fmt.Errorf("node is gone: %w", instrument.ErrSessionLost)
	}
	l.created, l.end = stat.Czxid, l.endFrom(asked)
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
		instrument.LostOn(l.ended),
		instrument.ExpiryFrom(func() time.Time { return l.end }),
		instrument.WatchWith(l.watch),
	)
}

// watch looks at the node three times in each timeout. An answer is a renewal,
// also after the lease end: as long as the node is there, nobody else held the
// lock.
func (l *lease) watch(ctx context.Context, s instrument.Sink) {
	every := l.session.granted() / 3
	if every <= 0 {
		every = lookEvery
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.ended:
			s.Lost(zk.ErrSessionExpired)
			return
		case <-tick.C:
		}
		asked := time.Now()
		err, answered := l.look(ctx)
		switch {
		case !answered:
			return
		case err == nil:
			s.Renewed(l.endFrom(asked))
		default:
			s.RenewalFailed(err) // and lost, if that is what it says
		}
	}
}

// look asks in the background, since the call takes no context. answered is
// false when ctx ended first.
func (l *lease) look(ctx context.Context) (err error, answered bool) {
	answer := make(chan error, 1)
	go func() {
		there, stat, err := l.conn.Exists(l.node)
		if err == nil && (!there || stat.Czxid != l.created) {
			err = fmt.Errorf("zklock: node is gone: %w", instrument.ErrSessionLost)
		}
		answer <- err
	}()
	select {
	case <-ctx.Done():
		return nil, false
	case err := <-answer:
		return err, true
	}
}
