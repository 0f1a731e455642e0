package otelmetric

import (
	"reflect"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// destination is where an export delivers.
//
// A destination is identified by an instrument: an SDK returns the same
// instrument for the same name and scope each time, and accepts observations of
// its own instruments only. So two providers that return the same instrument
// deliver to the same destination, even if they are wrapped.
//
// The global provider is a stand-in until one is set, and its instruments are
// too; what they stand for is found out when it is there. Until then nothing
// can be delivered, and the export is pending.
type destination struct {
	provider metric.MeterProvider
	pending  atomic.Bool
	silent   atomic.Bool // another export reports in this place

	// guarded by exports.mu
	shares  int
	place   metric.Observable
	arrival uint64 // 0 where the place was known from the first and free
}

// locate asks a provider where its instruments lead.
func (w *destination) locate(p metric.MeterProvider) {
	w.provider, w.place = p, sign(p)
	w.pending.Store(isStandIn(w.place))
}

// sign is the instrument that a place is known by; nil if the provider has
// none, which start reports.
func sign(p metric.MeterProvider) metric.Observable {
	o, err := newObservable(meterOf(p), catalog.Active)
	if err != nil {
		return nil
	}
	return o
}

// meets reports whether two exports deliver to one place.
func (w *destination) meets(x *destination) bool {
	return identical(w.place, x.place) || identical(w.provider, x.provider)
}

// identical compares what can be compared. A zero value, such as a no-op
// instrument, is no place.
func identical(a, b any) bool {
	v := reflect.ValueOf(a)
	return v.IsValid() && v.Comparable() && !v.IsZero() && a == b
}

// isStandIn reports whether a provider or an instrument is the global one's
// stand-in.
func isStandIn(x any) bool {
	t := reflect.TypeOf(x)
	return t != nil && t.Kind() == reflect.Pointer && strings.HasSuffix(t.Elem().PkgPath(), "go.opentelemetry.io/otel/internal/global")
}

// reports reports whether this export is the one that reports in its place.
func (e *export) reports() bool { return e.arrive() && !e.silent.Load() }

// arrive reports whether it is known where the export delivers, and finds out
// if it can be. It runs within collections, when the SDK has locked what it
// has: as soon as the global provider has been set, asking the stand-in is a
// look-up there; while it is being set, the stand-in is locked.
func (e *export) arrive() bool {
	if !e.pending.Load() {
		return true
	}
	if isStandIn(otel.GetMeterProvider()) {
		return false
	}
	place := sign(e.provider)
	if isStandIn(place) {
		return false
	}
	exports.mu.Lock()
	var conflict error
	if e.pending.Load() {
		e.place = place
		e.pending.Store(false)
		conflict = e.settle()
	}
	exports.mu.Unlock()
	if conflict != nil {
		otel.Handle(conflict)
	}
	return true
}

// settle takes the place that an export was pending for, or waits for it. The
// caller holds exports.mu.
func (e *export) settle() error {
	exports.arrivals++
	e.arrival = exports.arrivals
	first := e.yield()
	if first != nil && first.m != e.m {
		return ErrOtherMiddleware
	}
	return nil
}

// yield keeps silent while another export was in the place before, and returns
// that one. The caller holds exports.mu.
func (e *export) yield() (first *export) {
	for _, x := range live() {
		if x.arrival < e.arrival && !e.pending.Load() && !x.pending.Load() && x.meets(&e.destination) {
			first = x
		}
	}
	e.silent.Store(first != nil)
	return first
}
