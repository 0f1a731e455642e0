package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/leaderscope/leaderscope/instrument"
)

// errShared: a session has one key below a prefix, and a term holds it.
var errShared = fmt.Errorf("etcdlock: a term holds the key of this session and prefix; make one Acquirer for all attempts, or give each candidate a session of its own: %w", instrument.ErrAlreadyHeld)

// borrowed campaigns on the caller's session.
type borrowed struct {
	reasons
	session   *concurrency.Session
	candidate candidate
	turn      chan struct{} // full while an attempt has the candidate
	remaining background    // what deletes the keys that attempts and terms left
}

// onSession leaves the session out if one of the program's objects is missing.
func onSession(s *concurrency.Session, c candidate, missing bool) *borrowed {
	if missing {
		s = nil
	}
	return &borrowed{session: s, candidate: c, turn: make(chan struct{}, 1)}
}

var (
	errNoClient  = errors.New("etcdlock: the client is nil: pass one of clientv3.New")
	errNoSession = errors.New("etcdlock: the session, or what was made from it, is nil: pass those of package concurrency")
)

// Acquire has the candidate campaign in the background. etcd's package cleans
// up after a campaign that is given up, with the context of the client, and
// for as long as the backend takes.
func (b *borrowed) Acquire(ctx context.Context) (instrument.Lease, error) {
	return b.AcquireAsWitness(ctx, nil)
}

// AcquireAsWitness shows as whom an election campaigns, until the term ends.
func (b *borrowed) AcquireAsWitness(ctx context.Context, e *instrument.Election) (l instrument.Lease, err error) {
	if b.session == nil {
		return nil, errNoSession
	}
	finished := identify(e, b.candidate)
	defer func() {
		if l == nil {
			finished()
		}
	}()
	return b.acquire(orBackground(ctx), finished)
}

func (b *borrowed) acquire(ctx context.Context, finished func()) (instrument.Lease, error) {
	if !b.takeTurn(ctx) {
		return nil, fmt.Errorf("etcdlock: %w", context.Cause(ctx))
	}
	answers, gone := make(chan answer), make(chan struct{})
	go b.attempt(ctx, finished, answers, gone)
	select {
	case a := <-answers:
		return a.unpack()
	case <-ctx.Done():
	}
	select {
	case a := <-answers:
		return a.unpack()
	case <-time.After(cleanUpWait):
		close(gone)
		return nil, fmt.Errorf("etcdlock: %w", context.Cause(ctx))
	}
}

func (b *borrowed) takeTurn(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case b.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

type answer struct {
	lease    instrument.Lease
	err      error
	panicked any
}

func (a answer) unpack() (instrument.Lease, error) {
	if a.panicked != nil {
		panic(a.panicked) // the client's own, for the caller
	}
	return a.lease, a.err
}

// attempt passes the result of one attempt on. If its caller no longer waits, a
// lock that it won is released.
func (b *borrowed) attempt(ctx context.Context, finished func(), answers chan<- answer, gone <-chan struct{}) {
	defer func() { <-b.turn }()
	a := b.answer(ctx, finished)
	select {
	case answers <- a:
	case <-gone:
		if a.lease != nil {
			ended, cancel := context.WithCancel(context.Background())
			cancel()
			_ = a.lease.Release(ended) // by the background
		}
	}
}

func (b *borrowed) answer(ctx context.Context, finished func()) (a answer) {
	defer func() { a.panicked = recover() }()
	b.remaining.stop()
	a.lease, a.err = b.win(ctx, finished)
	return a
}

func (b *borrowed) win(ctx context.Context, finished func()) (instrument.Lease, error) {
	t, err := b.hold(ctx)
	if err != nil {
		if err != errShared && !ended(b.session) && !b.candidate.leavesNothing() {
			b.sweep()
		}
		return nil, err
	}
	l := listen(ctx, b.session)
	return instrument.NewLease(
		b.releaser(t),
		instrument.Token(b.candidate.token()),
		instrument.ExpiryFrom(l.Expiry),
		instrument.GrantedFrom(l.length),
		instrument.WatchWith(both(l.Watch, holding(b.session.Client(), b.candidate).watch, finished)),
	), nil
}

// hold wins the lock for a term that no other term shares.
func (b *borrowed) hold(ctx context.Context) (*term, error) {
	others := keysOf(b.session)
	created, err := b.campaign(ctx)
	if errors.Is(err, errDeleted) && slices.Contains(others, b.candidate.key()) {
		return nil, errShared // the key was another term's, which released it
	}
	if err != nil {
		return nil, err
	}
	t := &term{b.session, b.candidate.key(), created}
	if !t.enter() {
		return nil, errShared
	}
	return t, nil
}

// campaign wins and returns the revision that made the key.
func (b *borrowed) campaign(ctx context.Context) (created int64, err error) {
	if err := win(ctx, b.session, b.candidate); err != nil {
		return 0, err
	}
	created, err = b.candidate.created(ctx, b.session.Client())
	if err != nil {
		return 0, fmt.Errorf("etcdlock: %w", err)
	}
	return created, nil
}

// releaser deletes the key of this term. Resign forgets the key when it fails,
// and Unlock would delete the key of a later term. A deletion without an answer
// is made again in the background: the session keeps the key for as long as it
// lives.
func (b *borrowed) releaser(t *term) func(context.Context) error {
	client, owner := b.session.Client(), b.candidate.owner()
	var sent, given atomic.Bool
	remove := func(ctx context.Context) error {
		if given.Load() {
			return nil
		}
		return t.free(func() error {
			err := deleteOwn(ctx, client, owner, t.key)
			if err == errDeleted && sent.Load() {
				err = nil // by the request before
			}
			sent.Store(true)
			given.Store(err == nil)
			return err
		})
	}
	return func(ctx context.Context) error {
		err := remove(orBackground(ctx))
		if err == nil {
			return nil
		}
		if err != errDeleted && !ended(b.session) {
			b.remaining.start(b.session, func(ctx context.Context) { _ = repeat(ctx, remove) })
		}
		return fmt.Errorf("etcdlock: release: %w", err)
	}
}
