// Package prom exports a Middleware through client_golang:
//
//	m, err := instrument.New()
//	_, err = prom.Register(prometheus.DefaultRegisterer, m)
//	http.Handle("/metrics", promhttp.Handler())
//
// Its collector reads the core during a scrape. Names, labels and help texts are
// those of the catalogue. It keeps counts of its own only for native histograms,
// which the core does not have.
//
// Metric names cannot have a prefix, since rules and dashboards use the names:
// Register refuses a registerer that adds one. Use constant labels to distinguish
// what a prefix would.
package prom

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/exporter/internal/registerer"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// ErrRegistered means that a registry cannot have another exporter: it has one
// of another Middleware, one of the same Middleware with other options, or an
// OpenTelemetry pipeline of it.
var ErrRegistered = errors.New("leaderscope: this registry already exports another middleware, or this one through another exporter or with other options; share one exporter, or distinguish two middlewares with WithConstLabels")

// Exporter exposes a Middleware in a registry until it is closed. It is safe for
// concurrent use.
type Exporter struct {
	mu     sync.Mutex
	shared *collector // nil once closed
}

// Register exposes m in r. With native histograms or exemplars it counts
// observations from this call on, so call it before the first election. A nil
// Middleware exports nothing.
//
// If m is already registered with the same options, the exporter is shared, so
// that building a service twice on one registry is not an error and loses no
// counts; the last Close ends it. Any other exporter of leaderscope in r is
// ErrRegistered, unless constant labels distinguish two Middlewares. If the
// registerer adds a prefix to names, or a constant label that the series cannot
// have, the error names it.
func Register(r prometheus.Registerer, m *instrument.Middleware, opts ...Option) (*Exporter, error) {
	if m == nil {
		return &Exporter{}, nil
	}
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	if err := registerer.Check(r, cfg.constant); err != nil {
		return nil, err
	}
	shared, err := join(r, m, cfg)
	if err != nil {
		return nil, err
	}
	return &Exporter{shared: shared}, nil
}

// Close ends this exporter's share; with the last share the series are removed
// from the registry. Elections continue. Closing again, or closing nil, does
// nothing. It returns nil.
func (e *Exporter) Close() error {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	shared := e.shared
	e.shared = nil
	e.mu.Unlock()
	if shared != nil {
		shared.leave()
	}
	return nil
}

// registering is held while a collector comes or goes, so that no exporter shares
// one that is just leaving.
var registering sync.Mutex

// join finds the collector of m in r, or registers one.
func join(r prometheus.Registerer, m *instrument.Middleware, cfg config) (*collector, error) {
	registering.Lock()
	defer registering.Unlock()
	c := newCollector(r, m, cfg)
	err := r.Register(c)
	if err == nil {
		c.start()
		return c, nil
	}
	var registered prometheus.AlreadyRegisteredError
	if errors.As(err, &registered) {
		first, ok := registered.ExistingCollector.(*collector)
		if !ok || first.m != m || !first.config.equal(cfg) {
			return nil, ErrRegistered
		}
		first.shares++
		return first, nil
	}
	if strings.Contains(err.Error(), " is invalid: ") { // a wrapper's label that no registry takes
		return nil, fmt.Errorf("leaderscope: register: %w", err)
	}
	return nil, fmt.Errorf("%w: %w", ErrRegistered, err)
}

// collector is what all exporters of one Middleware and one registry share.
type collector struct {
	m       *instrument.Middleware
	config  config
	descs   map[*catalog.Metric]*prometheus.Desc
	bounds  map[*catalog.Metric][]float64
	marker  *prometheus.Desc
	labels  labels
	vectors map[*catalog.Metric]*prometheus.HistogramVec // of native histograms
	locks   locks

	registerer prometheus.Registerer
	shares     int // guarded by registering
	detach     func()
}

func newCollector(r prometheus.Registerer, m *instrument.Middleware, cfg config) *collector {
	c := &collector{
		m: m, config: cfg, registerer: r,
		descs: map[*catalog.Metric]*prometheus.Desc{}, bounds: map[*catalog.Metric][]float64{}, marker: registerer.Marker(m),
		labels: newLabels(cfg.constant), vectors: newVectors(cfg),
	}
	for _, metric := range catalog.All() {
		c.descs[metric] = prometheus.NewDesc(metric.Name(), metric.Help(), labelNames(metric), cfg.constant)
		c.bounds[metric] = metric.Bounds()
	}
	return c
}

// start attaches the collector to the core where it needs every observation.
func (c *collector) start() {
	c.shares = 1
	c.detach = func() {}
	if c.config.listens() {
		c.detach = c.m.Attach(c.observer)
	}
}

func (c *collector) leave() {
	registering.Lock()
	defer registering.Unlock()
	if c.shares--; c.shares > 0 {
		return
	}
	c.registerer.Unregister(c)
	c.detach()
}

// labelNames are lock_name, where the metric has it, and the metric's own.
func labelNames(m *catalog.Metric) []string {
	var names []string
	if m.PerLock() {
		names = append(names, catalog.LockName.Name())
	}
	for _, l := range m.Labels() {
		names = append(names, l.Name())
	}
	return names
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(descs chan<- *prometheus.Desc) {
	descs <- c.marker
	for _, metric := range catalog.All() {
		descs <- c.descs[metric]
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(metrics chan<- prometheus.Metric) {
	s := scrape{c: c, metrics: metrics}
	c.m.Collect(s.add)
}
