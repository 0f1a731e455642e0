package otelmetric

import (
	"errors"
	"slices"
	"sync"
	"weak"

	"go.opentelemetry.io/otel/metric/noop"

	"github.com/leaderscope/leaderscope/instrument"
)

// ErrOtherMiddleware means that the provider already has the series of another
// Middleware: counters of both would add up under the same names, and gauges
// would overwrite each other.
var ErrOtherMiddleware = errors.New("leaderscope: another middleware exports to this meter provider; share one middleware, or give each its own provider")

// exports holds what is exported now. The SDK adds up two callbacks that
// observe one series, so a service that is built twice must find the first.
// It keeps nothing alive: providers and middlewares that are dropped without
// Close go with their exports.
var exports struct {
	// joining is held around calls of the API, which wait for a collection
	// that runs; so nothing that a collection calls may take it.
	joining sync.Mutex

	mu       sync.Mutex // held for no foreign call
	open     []weak.Pointer[export]
	arrivals uint64
}

// join finds the export of m to a place, or makes one.
func join(m *instrument.Middleware, c config) (*export, error) {
	exports.joining.Lock()
	defer exports.joining.Unlock()
	tidy()
	e := newExport(m, c)
	exports.mu.Lock()
	switch first := occupant(e); {
	case first == nil:
	case first.m != m:
		exports.mu.Unlock()
		return nil, ErrOtherMiddleware
	default:
		first.shares++
		exports.mu.Unlock()
		return first, nil
	}
	e.shares = 1
	exports.open = append(exports.open, weak.Make(e))
	exports.mu.Unlock()
	e.start()
	return e, nil
}

// leave takes a share away.
func leave(e *export) error {
	exports.joining.Lock()
	defer exports.joining.Unlock()
	exports.mu.Lock()
	e.shares--
	last := e.shares == 0
	exports.mu.Unlock()
	if !last {
		return nil
	}
	return end(e)
}

// end stops an export and hands its place to the next. The caller holds
// joining. The callback goes first: for the length of a scrape a place may
// have no series, but never each of them twice.
func end(e *export) error {
	err := e.stop()
	exports.mu.Lock()
	defer exports.mu.Unlock()
	exports.open = slices.DeleteFunc(exports.open, func(p weak.Pointer[export]) bool { return p.Value() == e || p.Value() == nil })
	for _, x := range live() {
		x.yield()
	}
	return err
}

// tidy finds out what has become of the exports that are open. The caller
// holds joining.
func tidy() {
	exports.mu.Lock()
	open := live()
	exports.mu.Unlock()
	for _, e := range open {
		if isShutDown(e) {
			_ = end(e) // the provider that could complain is gone; ending twice is harmless
			continue
		}
		e.arrive()
	}
}

// isShutDown reports whether the provider gives nothing but no-op meters.
func isShutDown(e *export) bool {
	_, noop := meterOf(e.provider).(noop.Meter)
	return noop
}

// live are the open exports that are still in use. The caller holds mu.
func live() []*export {
	var all []*export
	for _, p := range exports.open {
		if e := p.Value(); e != nil {
			all = append(all, e)
		}
	}
	return all
}

// occupant is the export that reports in the place of e. The caller holds mu.
func occupant(e *export) *export {
	for _, x := range live() {
		if x != e && !x.silent.Load() && x.meets(&e.destination) {
			return x
		}
	}
	return nil
}
