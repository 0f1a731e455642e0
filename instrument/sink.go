package instrument

import (
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/internal/bridge"
	"github.com/leaderscope/leaderscope/instrument/internal/lock"
)

// Sink accepts an adapter's reports about a term. Its methods are safe for
// concurrent use and do nothing once the term has ended. The zero Sink ignores
// all reports.
type Sink struct{ to receiver }

// receiver is a term, or what a test has in its place.
type receiver interface {
	renewedBy(Renewal)
	renewalFailed(Renewal, error)
	lost(error)
}

// Renewal describes a renewal. The zero Renewal reports only that there was one.
type Renewal struct {
	// Sent is the instant just before the request, or before the first of several
	// requests. With it the duration of the renewal is recorded, and answers that
	// arrive out of order are reordered; if Expiry is zero, the lease end counts
	// from it. Zero means unknown, and so does a time in the future.
	Sent time.Time
	// Expiry is the new end of the lease. If it is zero, the Expirer of the lease
	// decides, or else the lease length: Granted, or else LeaseDuration.
	Expiry time.Time
	// Granted is the length of the renewed lease if the backend reports it; zero
	// means unknown. It has precedence over LeaseDuration.
	Granted time.Duration
}

// Renewed reports a renewal that succeeded.
func (s Sink) Renewed(r Renewal) {
	if s.to != nil {
		s.to.renewedBy(r)
	}
}

// RenewalFailed reports a renewal that failed and may be tried again. An error
// that classifies as Contended or SessionLost, such as ErrLost, ends the term.
func (s Sink) RenewalFailed(err error) { s.RenewalFailedSince(time.Time{}, err) }

// RenewalFailedSince is RenewalFailed for a renewal with a known send time, so
// that its duration is recorded.
func (s Sink) RenewalFailedSince(sent time.Time, err error) {
	if s.to != nil {
		s.to.renewalFailed(Renewal{Sent: sent}, err)
	}
}

// Lost ends the term. The cause decides when another replica may lead:
//
//   - a cause that classifies as Contended or SessionLost, as the sentinels of
//     this package do: the backend has shown that the lock is no longer held by
//     this process; another replica may lead from now on
//   - ErrGaveUp, or a cause that wraps it: the elector stopped trying to renew;
//     another replica may lead after the lease end
//   - context.Canceled: the elector was stopped without releasing the lock; if
//     the cause also wraps a sentinel, the lock no longer exists either
//   - any other cause, including nil: the library reports a loss without a
//     cause; another replica may lead after the lease end, or from now on if the
//     end is unknown
func (s Sink) Lost(cause error) {
	if s.to != nil {
		s.to.lost(cause)
	}
}

func (t *Term) renewedBy(r Renewal) {
	m := t.e.m
	end, endless := m.endOf(r.Expiry)
	asked := lock.Won{End: end, Endless: endless, Length: max(r.Granted, 0)}
	t.fillIn(&asked, r)
	t.renewed(t.ctx, lock.Renewal{
		Result: catalog.RenewalOK, Sent: m.pastOf(r.Sent), End: asked.End, Endless: asked.Endless, Length: asked.Length,
		Asked: r.Expiry.IsZero(),
	}, nil)
}

// fillIn asks the lease for what the renewal does not tell.
func (t *Term) fillIn(w *lock.Won, r Renewal) {
	can := t.e.capabilitiesOf(t.lease)
	if can&canExpire != 0 && r.Expiry.IsZero() {
		w.End, w.Endless = t.e.m.expiryOf(t.lease.(Expirer))
	}
	if can&canGrant != 0 && r.Granted <= 0 {
		w.Length = t.e.m.grantedBy(t.lease.(Granter))
	}
}

func (t *Term) renewalFailed(r Renewal, err error) {
	if err == nil {
		err = ErrUnknown
	}
	result := t.e.renewalResult(t.classifier(), err, t.e.contextError(err))
	t.renewed(t.ctx, lock.Renewal{Result: result, Sent: t.e.m.pastOf(r.Sent)}, err)
}

// sinkFuncs is the receiver of a test.
type sinkFuncs struct {
	onRenewed func(sent, expiry time.Time, granted time.Duration)
	onFailed  func(sent time.Time, err error)
	onLost    func(error)
}

func (s sinkFuncs) renewedBy(r Renewal)                { s.onRenewed(r.Sent, r.Expiry, r.Granted) }
func (s sinkFuncs) renewalFailed(r Renewal, err error) { s.onFailed(r.Sent, err) }
func (s sinkFuncs) lost(cause error)                   { s.onLost(cause) }

func init() {
	bridge.NewSink = func(renewed func(time.Time, time.Time, time.Duration), failed func(time.Time, error), lost func(error)) any {
		return Sink{sinkFuncs{renewed, failed, lost}}
	}
}
