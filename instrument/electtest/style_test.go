package electtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
)

// style is an adapter of the server in memory: of one of the styles that
// libraries have, and right, or with one fault.
type style struct {
	hold, waits, renewsItself, onDemand, fenced, quiet, hidesSendTimes, hidesRenewals, ignoresLoss, unknownToBackend bool

	// losesByGivingUp: once a renewal is given up the library refuses all later.
	losesByGivingUp bool
	// deaf: a renewal takes no context.
	deaf bool

	lease time.Duration
	// givesUp: for campaigns.
	givesUp, keepsLock bool
	fault              fault
}

type fault string

const (
	way         = 40 * time.Millisecond // of a request to the server, and of its answer
	leaseLength = 9 * time.Second
)

var (
	errTaken = errors.New("taken")
	errDown  = errors.New("down")
	errGone  = errors.New("gone")
)

// adapter is the adapter of one server.
type adapter struct {
	style
	server *Memory

	mu   sync.Mutex
	down map[string]bool
	wins uint64

	never chan struct{} // closed when a check is over
}

func (s style) new() *adapter {
	return &adapter{style: s, server: NewMemory(), down: map[string]bool{}}
}

func (s *adapter) suite() Suite {
	suite := Suite{
		New:         func(_ testing.TB, lock string) instrument.Acquirer { return s.elector(lock) },
		Lease:       s.lease,
		VirtualTime: true,
		Waits:       s.waits, RenewsItself: s.renewsItself, HidesSendTimes: s.hidesSendTimes, HidesRenewals: s.hidesRenewals, RenewsOnDemand: s.onDemand, GivenUpRenewalLoses: s.losesByGivingUp,
		Fenced: s.fenced, KeepsQuiet: s.quiet, ReleaseIgnoresLoss: s.ignoresLoss,
		Lose:       func(_ testing.TB, lock string) { s.server.Drop(lock) },
		LossWithin: max(s.lease, 10*time.Second),
		Break:      s.breaks,
	}
	if s.hold {
		suite.Options = []instrument.ElectionOption{instrument.Hold()}
	}
	if !s.unknownToBackend {
		suite.Remaining = func(_ testing.TB, lock string) (time.Duration, bool) { return s.server.Remaining(lock) }
	}
	return suite
}

func (s *adapter) breaks(_ testing.TB, lock string) (repair func()) {
	s.set(lock, true)
	return func() { s.set(lock, false) }
}

func (s *adapter) set(lock string, down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down[lock] = down
}

func (s *adapter) isDown(lock string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down[lock]
}

func (s *adapter) win() (n uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wins++
	return s.wins
}

// travel is one way of a request, which its context can cut short.
func travel(ctx context.Context) error {
	timer := time.NewTimer(way)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *adapter) elector(lock string) instrument.Acquirer { return &client{s, lock} }

type client struct {
	*adapter
	lock string
}

func (e *client) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "a lock")
	if e.fault == "the name is printed" {
		_, _ = io.WriteString(f, " called "+e.lock)
	}
}

func (e *client) Classify(err error) (instrument.Reason, bool) {
	switch {
	case errors.Is(err, errTaken) && e.fault != "contention is not declared":
		return instrument.Contended, true
	case errors.Is(err, errGone) && e.fault != "a refused renewal is not declared":
		return instrument.SessionLost, true
	default:
		return 0, false
	}
}

type typedLease struct{ instrument.Lease }

func (e *client) Acquire(ctx context.Context) (instrument.Lease, error) {
	if e.fault == "Acquire ignores its context" {
		ctx = context.WithoutCancel(ctx)
	}
	switch {
	case e.fault == "nothing is ever won":
		return nil, errDown
	case e.fault == "an ended context is contention" && ctx != nil && ctx.Err() != nil:
		return nil, errTaken
	}
	l, err := e.acquire(ctx)
	switch {
	case e.fault == "a typed nil beside the error" && err != nil:
		return (*typedLease)(nil), err
	case e.fault == "a lease beside the error" && err != nil:
		return instrument.NewLease(nil), err
	case e.fault == "a typed nil without an error" && err != nil:
		return (*typedLease)(nil), nil
	case e.fault == "neither a lease nor an error" && err != nil:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return l, nil
}

func (e *client) acquire(ctx context.Context) (instrument.Lease, error) {
	for {
		sent := time.Now()
		if err := travel(ctx); err != nil {
			return nil, err
		}
		if e.isDown(e.lock) {
			return nil, errDown
		}
		l, freed, timeLeft := e.server.take(e.lock, e.lease)
		if l == nil && e.fault == "two hold the lock" {
			l = &memoryLease{server: e.server, lock: &memoryLock{freed: make(chan struct{})}, length: e.lease, token: 1 << 20}
			l.lock.owner = l
		}
		if l != nil {
			return e.answer(ctx, l, sent)
		}
		if err := travel(ctx); err != nil {
			return nil, err
		}
		if !e.waits {
			return nil, errTaken
		}
		if e.fault == "a waiting contender sleeps too long" {
			freed, timeLeft = nil, 2*e.lease
		}
		if err := waitFor(ctx, freed, timeLeft); err != nil {
			return nil, err
		}
	}
}

// answer is on its way. If no caller waits for it the lock is released.
func (e *client) answer(ctx context.Context, l *memoryLease, sent time.Time) (instrument.Lease, error) {
	h := &held{client: e, l: l, end: e.endFrom(sent), n: e.win()}
	if err := travel(ctx); err != nil {
		if e.fault == "a lock is left behind" {
			l.length = 1 << 60
			l.renew()
		} else {
			go func() { _ = l.Release(context.Background()) }()
		}
		return nil, err
	}
	if e.fault == "the lock is not kept" {
		e.server.Drop(e.lock)
	}
	if e.fault == "the end counts from the answer" {
		h.end = time.Now().Add(e.lease)
	}
	if e.fault == "the lease is longer than that of the backend" {
		h.end = time.Now().Add(2 * e.lease)
	}
	return h.lease(), nil
}

func (e *client) endFrom(sent time.Time) time.Time {
	if e.lease == 0 {
		return time.Time{}
	}
	return sent.Add(e.lease)
}

// held is a lock that was won.
type held struct {
	*client
	l *memoryLease
	n uint64

	mu       sync.Mutex
	end      time.Time
	renewing int
	refuses  atomic.Bool
}

func (h *held) expiry() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.end
}

func (h *held) extend(to time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if to.After(h.end) {
		h.end = to
	}
}

func (h *held) lease() instrument.Lease {
	options := []instrument.LeaseOption{instrument.ExpiryFrom(h.expiry)}
	if h.fenced && h.fault != "there is no token" || h.fault == "there is a token without fencing" {
		token := h.l.token
		if h.fault == "the token repeats" {
			token = 1 + h.n%2
		}
		options = append(options, instrument.Token(token))
	}
	if h.onDemand || h.fault == "Renew does nothing where it is not supported" {
		options = append(options, instrument.RenewWith(h.renew))
	}
	if h.fault == "a renewal that is not supported is reported" {
		sinks := make(chan instrument.Sink, 1)
		options = append(options, instrument.WatchWith(func(_ context.Context, s instrument.Sink) { sinks <- s }),
			instrument.RenewWith(func(ctx context.Context) error {
				_ = travel(ctx) // the watcher has started by then
				select {
				case s := <-sinks:
					h.reportRenewal(s, time.Now())
				default:
				}
				return errors.ErrUnsupported
			}))
	}
	if h.hidesRenewals && h.fault != "hidden renewals are shown" {
		options = append(options, instrument.RenewalsHidden())
	}
	if h.renewsItself {
		options = append(options, instrument.WatchWith(h.watch))
	}
	if h.fault == "the length changes" {
		options = append(options, instrument.GrantedFrom(func() time.Duration { return h.style.lease + time.Duration(h.n)*time.Second }))
	}
	return instrument.NewLease(h.release, options...)
}

func (h *held) release(ctx context.Context) error {
	h.mu.Lock()
	busy := h.renewing > 0
	h.mu.Unlock()
	switch {
	case h.fault == "a release does not release":
		return nil
	case h.fault == "a release that worked returns an error":
		_ = h.l.Release(ctx)
		return errDown
	case h.fault == "a release during a renewal fails" && busy:
		return errDown
	case h.fault == "a release under an ended context is lost" && ctx.Err() != nil:
		h.l.length = 1 << 60
		h.l.renew()
		return nil
	case h.fault == "a release takes the lock from the next holder":
		h.server.Drop(h.lock)
		return errGone
	}
	err := travel(ctx)
	if err == nil && h.isDown(h.lock) {
		err = errDown
	}
	if err == nil {
		if err = h.l.Release(ctx); err != nil {
			err = errGone
		}
		_ = travel(ctx)
	}
	switch {
	case err == errDown && h.style.lease == 0: // the server notices that the connection is gone
		_ = h.l.Release(ctx)
	case err == errDown && h.fault == "what was not released is kept":
		h.l.length = 1 << 60
		h.l.renew()
	case h.fault == "the error of a release is swallowed", h.ignoresLoss && err == errGone:
		return nil
	}
	return err
}

// renew is the renewal on the holder's demand.
func (h *held) renew(ctx context.Context) error {
	h.mu.Lock()
	h.renewing++
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		h.renewing--
		h.mu.Unlock()
	}()
	sent := time.Now()
	if h.fault == "Renew does nothing where it is not supported" {
		return nil
	}
	if h.fault == "a renewal sends nothing" {
		h.extend(h.endFrom(sent))
		return nil
	}
	if h.refuses.Load() {
		if h.fault == "a refusal after giving up is a backend error" {
			return errDown
		}
		return errGone
	}
	ok, err := h.ask(ctx)
	if h.losesByGivingUp && ctx.Err() != nil {
		h.refuses.Store(true)
	}
	switch {
	case err != nil && h.fault == "the end of a renewal's context is a loss":
		return errGone
	case err != nil:
		return err
	case !ok && h.fault == "a lost lock is kept from others":
		h.server.take(h.lock, 1<<60)
		return errGone
	case !ok && h.fault == "the error of a renewal is swallowed":
		return nil
	case !ok:
		return errGone
	}
	switch h.fault {
	case "a renewal moves the end by a day":
		h.extend(sent.Add(24 * time.Hour))
	case "the end of a renewal counts from the answer":
		h.extend(h.endFrom(time.Now()))
	case "a renewal does not move the end":
	default:
		h.extend(h.endFrom(sent))
	}
	return nil
}

// ask sends one renewal.
func (h *held) ask(ctx context.Context) (ok bool, err error) {
	if h.deaf {
		ctx = context.WithoutCancel(ctx)
	}
	if err := travel(ctx); err != nil {
		return false, err
	}
	if h.isDown(h.lock) {
		return false, errDown
	}
	ok = h.l.renew()
	return ok, travel(ctx)
}

// watch renews as a library does, in the background.
func (h *held) watch(ctx context.Context, s instrument.Sink) {
	if h.fault == "the watcher returns at once" {
		return
	}
	every := time.Second
	if h.style.lease > 0 {
		every = h.style.lease / 3
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		sent := time.Now()
		switch ok, err := h.ask(ctx); {
		case ctx.Err() != nil:
			return
		case err != nil && h.givesUp && h.fault != "giving up is not told":
			s.Lost(instrument.ErrGaveUp)
			return
		case err != nil:
			s.RenewalFailedSince(sent, err)
			if time.Until(h.expiry()) < 0 {
				s.Lost(instrument.ErrSessionLost)
				return
			}
		case !ok && h.fault == "a lost lock is reported as renewed":
			h.reportRenewal(s, sent)
		case !ok:
			h.reportLoss(s)
			return
		default:
			h.reportRenewal(s, sent)
		}
	}
}

func (h *held) reportLoss(s instrument.Sink) {
	switch {
	case h.quiet, h.fault == "a loss is not told":
	case h.fault == "a loss is told as a stop":
		s.Lost(context.Canceled)
	default:
		s.Lost(errGone)
	}
}

func (h *held) reportRenewal(s instrument.Sink, sent time.Time) {
	h.extend(h.endFrom(sent))
	r := instrument.Renewal{Sent: sent, Expiry: h.endFrom(sent)}
	switch {
	case h.fault == "renewals are not reported":
		return
	case h.fault == "renewals are reported twice":
		s.Renewed(instrument.Renewal{Expiry: h.endFrom(sent)})
	case h.fault == "the duration of renewals is not reported", h.hidesSendTimes:
		r.Sent = time.Time{}
	case h.fault == "the end of a renewal counts from the answer":
		r.Expiry = h.endFrom(time.Now())
	case h.fault == "a renewal moves the end by a day":
		r.Expiry = sent.Add(24 * time.Hour)
	}
	s.Renewed(r)
}
