package sqllock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
)

// lease is a lock that a session holds.
type lease struct {
	session       *session
	check         time.Duration
	answerTimeout time.Duration

	turn    chan struct{} // full while the session is in use
	claimed atomic.Bool   // by the one that gives the session back or up
	life    context.Context
	end     context.CancelFunc // ends life, when the session is claimed
}

func newLease(s *session, check, answerTimeout time.Duration) *lease {
	l := &lease{session: s, check: check, answerTimeout: answerTimeout, turn: make(chan struct{}, 1)}
	l.life, l.end = context.WithCancel(context.Background())
	return l
}

// claim reports whether the caller is the one to give the session back or up.
// A check that still waits for its answer is cut short.
func (l *lease) claim() bool {
	if !l.claimed.CompareAndSwap(false, true) {
		return false
	}
	l.end()
	return true
}

// release waits for a check that is under way, since cutting it short would
// close the connection.
func (l *lease) release(ctx context.Context) error {
	if ctx == nil {
		ctx = context.Background()
	}
	err := l.giveBack(ctx)
	if err != nil {
		return fmt.Errorf("leaderscope: advisory lock: release: %w", err)
	}
	return nil
}

func (l *lease) giveBack(ctx context.Context) error {
	if err := l.takeTurn(ctx); err != nil {
		return err
	}
	err := l.session.give(ctx)
	if err == nil {
		return l.session.conn.Close()
	}
	l.session.discard()
	return err
}

// takeTurn waits for the session, to release it. When ctx ends before, the
// session is dropped.
func (l *lease) takeTurn(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}: // also when ctx has ended
	default:
		select {
		case <-l.life.Done():
			return errGivenUp
		case l.turn <- struct{}{}:
		case <-ctx.Done():
			if l.claim() {
				l.dropInTurn()
			}
			return ctx.Err()
		}
	}
	if !l.claim() {
		<-l.turn // for the one that drops it
		return errGivenUp
	}
	return nil
}

var errGivenUp = fmt.Errorf("%w: %w", instrument.ErrSessionLost, sql.ErrConnDone)

// dropInTurn closes the connection once no query runs, and does not wait.
func (l *lease) dropInTurn() {
	go func() {
		l.turn <- struct{}{}
		l.session.discard()
	}()
}

// give releases the lock. A driver may report how a connection broke first,
// and that it is broken only when it is asked again.
func (s *session) give(ctx context.Context) error {
	answer, err := s.ask(ctx, s.lock.kind.give)
	if err != nil && ctx.Err() == nil && !connectionGone(err) {
		if held, again := s.ask(ctx, s.lock.kind.check); connectionGone(again) {
			err = again
		} else if again == nil && held == refused {
			return nil // it was given all the same
		}
	}
	switch {
	case connectionGone(err):
		return fmt.Errorf("%w: %w", instrument.ErrSessionLost, err)
	case err != nil:
		return err
	case answer == taken:
		return nil
	case answer == elsewhere:
		return fmt.Errorf("%w: %w", instrument.ErrSessionLost, ErrSessionChanged)
	default:
		return fmt.Errorf("%w: the session does not hold the lock", instrument.ErrSessionLost)
	}
}

// holds asks whether the session still holds the lock. A driver may report how
// a connection broke first, and that it is broken only when it is asked again.
func (s *session) holds(ctx context.Context) error {
	err := s.held(ctx)
	if err == nil || ctx.Err() != nil || errors.Is(err, instrument.ErrSessionLost) {
		return err
	}
	if again := s.held(ctx); errors.Is(again, instrument.ErrSessionLost) {
		return again
	}
	return err
}

func (s *session) held(ctx context.Context) error {
	answer, err := s.ask(ctx, s.lock.kind.check)
	switch {
	case connectionGone(err):
		return fmt.Errorf("leaderscope: advisory lock: %w: %w", instrument.ErrSessionLost, err)
	case err != nil:
		return fmt.Errorf("leaderscope: advisory lock: check: %w", err)
	case answer == taken:
		return nil
	case answer == elsewhere:
		return fmt.Errorf("leaderscope: advisory lock: %w: %w", instrument.ErrSessionLost, ErrSessionChanged)
	default:
		return fmt.Errorf("leaderscope: advisory lock: %w: the session does not hold the lock", instrument.ErrSessionLost)
	}
}

// closedEvery is how often the pool is asked, at most, whether it is closed.
const closedEvery = time.Second

// errClosed is the cause of a term whose pool the program has closed. The
// connection that holds the lock would outlive it.
var errClosed = fmt.Errorf("leaderscope: advisory lock: the *sql.DB was closed: %w: %w", context.Canceled, instrument.ErrSessionLost)

// isClosed asks without a connection: a pool that is closed says so ahead of a
// context that has ended.
func isClosed(db *sql.DB) bool {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	conn, err := db.Conn(ended)
	if err == nil {
		_ = conn.Close()
	}
	return err != nil && !errors.Is(err, context.Canceled)
}

// watch checks the lock until the term has ended.
func (l *lease) watch(ctx context.Context, s instrument.Sink, db *sql.DB) {
	tick := time.Tick(l.check)
	poll := time.Tick(min(l.check, closedEvery))
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll:
			if isClosed(db) {
				s.Lost(errClosed)
				if l.claim() {
					l.dropInTurn()
				}
				return
			}
			continue
		case <-tick:
		}
		if lost := l.checkOnce(ctx, s); lost {
			if l.claim() {
				l.dropInTurn()
			}
			return
		}
	}
}

// answer is what a check found.
type answer struct {
	err      error
	panicked any
}

// checkOnce asks once and reports once, whenever the answer comes.
func (l *lease) checkOnce(ctx context.Context, s instrument.Sink) (lost bool) {
	select {
	case l.turn <- struct{}{}:
	default:
		return false // being released
	}
	sent := time.Now()
	asking, stop := context.WithCancel(l.life) // and not of ctx: a query that is cut short costs the lock
	answers := make(chan answer, 1)
	go func() {
		defer stop()
		var a answer
		defer func() {
			a.panicked = recover()
			<-l.turn
			answers <- a
		}()
		a.err = l.session.holds(asking)
	}()
	due, limit := time.After(l.check), time.After(l.answerTimeout)
	late := false
	for {
		select {
		case <-ctx.Done():
			return false
		case a := <-answers:
			if a.panicked != nil {
				panic(a.panicked) // the driver's own; package instrument contains it
			}
			return report(s, sent, a.err, late)
		case <-due:
			late = true
			s.RenewalFailedSince(sent, context.DeadlineExceeded)
		case <-limit:
			if !late {
				s.RenewalFailedSince(sent, context.DeadlineExceeded)
			}
			s.Lost(fmt.Errorf("leaderscope: advisory lock: no answer to a check for %v: %w", l.answerTimeout, context.DeadlineExceeded))
			return true
		}
	}
}

// report records what a check found, unless it is recorded already that the
// answer was late. A loss is no renewal: it ends the term, and the body finds
// its reason as the cause of its context.
func report(s instrument.Sink, sent time.Time, err error, late bool) (lost bool) {
	switch {
	case errors.Is(err, instrument.ErrSessionLost):
		s.Lost(err)
		return true
	case late:
	case err == nil:
		s.Renewed(instrument.Renewal{Sent: sent})
	default:
		s.RenewalFailedSince(sent, err)
	}
	return false
}
