package main

import (
	"context"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// instruments are what an author would make for the same numbers, all of them
// synchronous.
type instruments struct {
	attempts, acquired, ended, releases, overruns metric.Int64Counter
	pending, active                               metric.Int64UpDownCounter
	last, expiry                                  metric.Float64Gauge
	acquire, execution, usage                     metric.Float64Histogram
}

func newInstruments(p metric.MeterProvider) *instruments {
	meter := p.Meter("bench")
	counter := func(m *catalog.Metric) metric.Int64Counter { return made(meter.Int64Counter(m.OTel())) }
	upDown := func(m *catalog.Metric) metric.Int64UpDownCounter { return made(meter.Int64UpDownCounter(m.OTel())) }
	gauge := func(m *catalog.Metric) metric.Float64Gauge { return made(meter.Float64Gauge(m.OTel())) }
	histogram := func(m *catalog.Metric) metric.Float64Histogram {
		return made(meter.Float64Histogram(m.OTel(), metric.WithExplicitBucketBoundaries(m.Bounds()...)))
	}
	return &instruments{
		attempts: counter(catalog.Attempts), acquired: counter(catalog.Acquired), ended: counter(catalog.TermsEnded),
		releases: counter(catalog.Releases), overruns: counter(catalog.LeaseOverruns),
		pending: upDown(catalog.Pending), active: upDown(catalog.Active), last: gauge(catalog.LastAcquired), expiry: gauge(catalog.LeaseExpiry),
		acquire: histogram(catalog.AcquireDuration), execution: histogram(catalog.ExecutionDuration), usage: histogram(catalog.LeaseUsageRatio),
	}
}

func made[T any](instrument T, err error) T {
	if err != nil {
		panic(err)
	}
	return instrument
}

// options are the attributes of each update, as slices: one option at a time
// would be an allocation at each call.
type options struct {
	add, ended, released []metric.AddOption
	record               []metric.RecordOption
}

func newOptions(lock string) options {
	set := func(more ...attribute.KeyValue) metric.MeasurementOption {
		return metric.WithAttributeSet(attribute.NewSet(append(more, attribute.String(catalog.LockName.Attribute(), lock))...))
	}
	return options{
		add:      []metric.AddOption{set()},
		ended:    []metric.AddOption{set(endedByRelease)},
		released: []metric.AddOption{set(released)},
		record:   []metric.RecordOption{set()},
	}
}

// cachedCycle records what leaderscope records of one acquisition and release,
// as a careful author would.
func (i *instruments) cachedCycle(ctx context.Context, o options) {
	asked := time.Now()
	i.attempts.Add(ctx, 1, o.add...)
	i.pending.Add(ctx, 1, o.add...)
	_ = lease{}
	won := time.Now()
	i.pending.Add(ctx, -1, o.add...)
	i.acquired.Add(ctx, 1, o.add...)
	i.acquire.Record(ctx, won.Sub(asked).Seconds(), o.record...)
	i.active.Add(ctx, 1, o.add...)
	i.last.Record(ctx, unix(won), o.record...)
	i.expiry.Record(ctx, unix(asked.Add(leaseLength)), o.record...)

	ended := time.Now()
	i.active.Add(ctx, -1, o.add...)
	i.usage.Record(ctx, ended.Sub(asked).Seconds()/leaseLength.Seconds(), o.record...)
	if ended.Sub(asked) > leaseLength {
		i.overruns.Add(ctx, 1, o.add...)
	}
	if (lease{}).Release(ctx) == nil {
		i.releases.Add(ctx, 1, o.released...)
	}
	i.ended.Add(ctx, 1, o.ended...)
	i.execution.Record(ctx, ended.Sub(won).Seconds(), o.record...)
}

// naiveCycle records the same, with attributes made at each call as the
// documentation's examples do.
func (i *instruments) naiveCycle(ctx context.Context, lock string) {
	name := attribute.String(catalog.LockName.Attribute(), lock)
	asked := time.Now()
	i.attempts.Add(ctx, 1, metric.WithAttributes(name))
	i.pending.Add(ctx, 1, metric.WithAttributes(name))
	_ = lease{}
	won := time.Now()
	i.pending.Add(ctx, -1, metric.WithAttributes(name))
	i.acquired.Add(ctx, 1, metric.WithAttributes(name))
	i.acquire.Record(ctx, won.Sub(asked).Seconds(), metric.WithAttributes(name))
	i.active.Add(ctx, 1, metric.WithAttributes(name))
	i.last.Record(ctx, unix(won), metric.WithAttributes(name))
	i.expiry.Record(ctx, unix(asked.Add(leaseLength)), metric.WithAttributes(name))

	ended := time.Now()
	i.active.Add(ctx, -1, metric.WithAttributes(name))
	i.usage.Record(ctx, ended.Sub(asked).Seconds()/leaseLength.Seconds(), metric.WithAttributes(name))
	if ended.Sub(asked) > leaseLength {
		i.overruns.Add(ctx, 1, metric.WithAttributes(name))
	}
	if (lease{}).Release(ctx) == nil {
		i.releases.Add(ctx, 1, metric.WithAttributes(name, released))
	}
	i.ended.Add(ctx, 1, metric.WithAttributes(name, endedByRelease))
	i.execution.Record(ctx, ended.Sub(won).Seconds(), metric.WithAttributes(name))
}

var (
	released       = attribute.String(catalog.Releases.Labels()[0].Attribute(), catalog.ReleaseOK.String())
	endedByRelease = attribute.String(catalog.TermsEnded.Labels()[0].Attribute(), catalog.Released.String())
)

// newProvider is an SDK with its exemplars off, as package otelsetup has it.
func newProvider() (*sdk.MeterProvider, sdk.Reader) {
	r := sdk.NewManualReader()
	return sdk.NewMeterProvider(sdk.WithReader(r), sdk.WithExemplarFilter(exemplar.AlwaysOffFilter), sdk.WithCardinalityLimit(0)), r
}

func otelCached(b *testing.B) {
	p, _ := newProvider()
	i, o, ctx := newInstruments(p), newOptions(label), context.Background()
	b.ReportAllocs()
	for b.Loop() {
		i.cachedCycle(ctx, o)
	}
}

func otelNaive(b *testing.B) {
	p, _ := newProvider()
	i, ctx := newInstruments(p), context.Background()
	b.ReportAllocs()
	for b.Loop() {
		i.naiveCycle(ctx, label)
	}
}
