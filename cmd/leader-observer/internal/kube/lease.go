package kube

import (
	"context"
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/observe"
	"github.com/leaderscope/leaderscope/instrument"
)

// patience is how long after its end a lease without news still counts as held: the
// query for it may take that long.
const patience = 2 * askTimeout

// record is the content of a Lease.
type record struct {
	holder      string
	renewed     int64 // in microseconds of the holder's clock
	acquired    int64
	transitions int32
	length      time.Duration
}

func recordOf(o *coordinationv1.Lease) record {
	var r record
	if o.Spec.HolderIdentity != nil {
		r.holder = *o.Spec.HolderIdentity
	}
	if o.Spec.RenewTime != nil {
		r.renewed = o.Spec.RenewTime.UnixMicro()
	}
	if o.Spec.AcquireTime != nil {
		r.acquired = o.Spec.AcquireTime.UnixMicro()
	}
	if o.Spec.LeaseTransitions != nil {
		r.transitions = *o.Spec.LeaseTransitions
	}
	if o.Spec.LeaseDurationSeconds != nil {
		r.length = time.Duration(*o.Spec.LeaseDurationSeconds) * time.Second
	}
	return r
}

// versionOf is the version of the object, which grows; 0 if it is not a number.
func versionOf(o *coordinationv1.Lease) uint64 {
	n, err := strconv.ParseUint(o.ResourceVersion, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// lease is a Lease with the history of its events.
type lease struct {
	namespace, name string
	lock            *observe.Lock

	record  record
	version uint64
	seen    bool
	end     time.Time // of the lease on this clock; zero without a holder
	over    bool      // the end has passed, and the server has confirmed it
	gone    bool
	asked   bool // a question is out
}

// sees applies a record. The lease runs from the moment at which this record was
// first read, which is the rule of client-go: the clock of the holder is not used.
// late means that the record may be old.
//
// If another holder appears after the end of the lease, the lock was vacant in
// between. If the same holder renews after it, the renewal may have been in flight.
func (l *lease) sees(r record, version uint64, now time.Time, late bool) {
	if version != 0 && version < l.version {
		return // the answer to a question that an event has overtaken
	}
	l.version = version
	if l.seen && !late && r.holder != l.record.holder && l.isOver(now) {
		l.over = true
		l.report()
	}
	if !l.seen || l.gone || r != l.record {
		l.record, l.seen, l.gone, l.over, l.end = r, true, false, false, time.Time{}
		if r.holder != "" && r.length > 0 {
			l.end = now.Add(r.length)
		}
	}
	l.over = !l.end.IsZero() && !now.Before(l.end)
	l.report()
}

// isOver reports a lease whose end has passed before the server has confirmed it.
func (l *lease) isOver(now time.Time) bool {
	return !l.over && !l.gone && !l.end.IsZero() && !now.Before(l.end)
}

func (l *lease) goes() {
	if l.gone && l.seen {
		return
	}
	l.gone, l.end, l.over = true, time.Time{}, false
	l.lock.Gone(instrument.BackendView{ValidFor: affirm + patience})
}

// report reports the lease. Renewals are events; a missing renewal is reported
// repeatedly.
func (l *lease) report() {
	view := instrument.BackendView{
		State: instrument.BackendVacant, Token: uint64(max(l.record.transitions, 0)), Counted: true, ValidFor: affirm + patience,
	}
	if l.record.holder != "" {
		view.State, view.Holder, view.Expiry, view.Granted = instrument.BackendHeld, l.record.holder, l.end, l.record.length
		if !l.over && l.record.length > 0 {
			view.ValidFor = l.record.length + patience
		}
	}
	l.lock.Sees(view)
}

// affirm repeats reports for which there is no event: a lock without a holder, or a
// holder without a lease duration.
func (l *lease) affirm() {
	switch {
	case l.gone:
		l.lock.Gone(instrument.BackendView{ValidFor: affirm + patience})
	case l.over, l.end.IsZero():
		l.report()
	}
}

// questions queries single leases.
type questions struct {
	ctx     context.Context
	client  coordination.CoordinationV1Interface
	answers chan answer
	free    chan struct{}
}

type answer struct {
	of    *lease
	lease *coordinationv1.Lease
	err   error
}

func newQuestions(ctx context.Context, c coordination.CoordinationV1Interface) *questions {
	return &questions{ctx: ctx, client: c, answers: make(chan answer), free: make(chan struct{}, asks)}
}

// ask reports whether another query could start. Its answer arrives through
// answers.
func (q *questions) ask(l *lease) bool {
	select {
	case q.free <- struct{}{}:
	default:
		return false
	}
	namespace, name := l.namespace, l.name
	go func() {
		defer func() { <-q.free }()
		ctx, cancel := context.WithTimeout(q.ctx, askTimeout)
		defer cancel()
		o, err := q.client.Leases(namespace).Get(ctx, name, metav1.GetOptions{})
		select {
		case q.answers <- answer{l, o, err}:
		case <-q.ctx.Done():
		}
	}()
	return true
}
