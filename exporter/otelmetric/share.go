package otelmetric

import (
	"errors"
	"reflect"
	"sync"

	"go.opentelemetry.io/otel/metric"

	"github.com/leaderscope/leaderscope/instrument"
)

// ErrOtherMiddleware says that the provider already has the series of another
// Middleware: theirs would add up under the same names, and gauges would
// overwrite each other.
var ErrOtherMiddleware = errors.New("leaderscope: another middleware exports to this meter provider; share one middleware, or give each a provider of its own")

// exports holds what is exported now. The SDK adds up two callbacks that
// observe one series, so a service that is built twice must find the first.
var exports struct {
	sync.Mutex
	by map[metric.MeterProvider]*export
}

func join(m *instrument.Middleware, p metric.MeterProvider) (*export, error) {
	if !reflect.TypeOf(p).Comparable() {
		return start(m, p), nil
	}
	exports.Lock()
	defer exports.Unlock()
	e := exports.by[p]
	switch {
	case e == nil:
		e = start(m, p)
		if exports.by == nil {
			exports.by = map[metric.MeterProvider]*export{}
		}
		exports.by[p] = e
	case e.m != m:
		return nil, ErrOtherMiddleware
	}
	e.shares++
	return e, nil
}

func leave(e *export) error {
	exports.Lock()
	defer exports.Unlock()
	e.shares--
	if e.shares > 0 {
		return nil
	}
	if exports.by[e.provider] == e {
		delete(exports.by, e.provider)
	}
	return e.stop()
}
