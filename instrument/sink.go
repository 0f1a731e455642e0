package instrument

import (
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/internal/bridge"
	"github.com/leaderscope/leaderscope/instrument/internal/lock"
)

// Sink takes what an adapter sees of a term. Its methods are safe for
// concurrent use and do nothing once the term has ended. The zero Sink takes
// nothing.
type Sink struct{ to receiver }

// receiver is a term, or what a test has in its place.
type receiver interface {
	renewedBy(Renewal)
	renewalFailed(Renewal, error)
	lost(error)
}

// Renewal says what is known of a renewal. The zero Renewal says that there
// was one.
type Renewal struct {
	// Sent is the instant just before the request, the first where a renewal
	// takes several. With it the duration of the renewal is recorded, and
	// answers out of order are put in order; where Expiry is zero, the lease
	// end counts from it. Zero means unknown, and so does a time to come.
	Sent time.Time
	// Expiry is the new end of the lease. Zero means that the Expirer of the
	// lease decides, else its length: as granted, else LeaseDuration.
	Expiry time.Time
	// Granted is the length of the renewed lease where the backend tells it;
	// zero means unknown. It is believed ahead of LeaseDuration.
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

// RenewalFailedSince is RenewalFailed for a renewal whose sending is known, so
// that its duration is recorded.
func (s Sink) RenewalFailedSince(sent time.Time, err error) {
	if s.to != nil {
		s.to.renewalFailed(Renewal{Sent: sent}, err)
	}
}

// Lost ends the term. The cause says what is known:
//
//   - one that classifies as Contended or SessionLost, as the sentinels of
//     this package do: the backend has shown that the lock is not ours any
//     more; another replica may lead from now on
//   - ErrGaveUp, or one that wraps it: the elector stopped trying to renew;
//     another replica may lead when the lease has ended
//   - context.Canceled: the elector was stopped without giving the lock back;
//     one that wraps a sentinel as well: and the lock is gone with it
//   - any other, nil included: the library says that the lock is lost, and not
//     why; another replica may lead when the lease has ended, or from now on
//     where the end is unknown
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
