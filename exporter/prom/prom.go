// Package prom exports a Middleware through client_golang: a Collector that
// reads the core when it is scraped. Names, labels and help texts are the
// catalogue's. It keeps counts of its own only for native histograms, which
// the core has not.
package prom

import (
	"errors"
	"fmt"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Collector collects the series of one Middleware. It is safe for concurrent
// use.
type Collector struct {
	m       *instrument.Middleware
	config  config
	marker  *prometheus.Desc
	descs   map[*catalog.Metric]*prometheus.Desc
	labels  labels
	vectors map[*catalog.Metric]*prometheus.HistogramVec // of native histograms
	locks   locks

	attach sync.Once
	detach func()
}

// New makes a Collector, to be registered by the caller. Several Collectors
// may read one Middleware; they show the same counts.
//
// With native histograms or exemplars the Collector listens to observations
// from here on, so make it before the first election; Close ends that.
func New(m *instrument.Middleware, opts ...Option) *Collector {
	c := newCollector(m, newConfig(opts))
	c.listen()
	return c
}

func newCollector(m *instrument.Middleware, cfg config) *Collector {
	c := &Collector{m: m, config: cfg, marker: marker(m), descs: map[*catalog.Metric]*prometheus.Desc{}, labels: newLabels(cfg.constant), vectors: newVectors(cfg)}
	for _, metric := range catalog.All() {
		c.descs[metric] = prometheus.NewDesc(metric.Name, metric.Help, labelNames(metric), cfg.constant)
	}
	return c
}

// marker describes a series that is never collected. A registry refuses a
// second Collector of one middleware by it, whatever its constant labels:
// every count would be there twice.
func marker(m *instrument.Middleware) *prometheus.Desc {
	return prometheus.NewDesc("leaderscope_collector", "Never collected: marks a registry that has a middleware.", nil,
		prometheus.Labels{"middleware": fmt.Sprintf("%p", m)})
}

// ErrRegistered says that a registry cannot take another Collector: it has one
// of another Middleware, or one of the same with other options.
var ErrRegistered = errors.New("leaderscope: this registry has another middleware, or this one with other options; share one collector, or tell two middlewares apart by WithConstLabels")

// Register makes a Collector of m and registers it with r. If m is registered
// there already with the same options, the first Collector is returned, so
// that building a service twice on one registry is no error and loses no
// counts. Anything else that r has of leaderscope is ErrRegistered, unless
// constant labels tell two Middlewares apart.
func Register(r prometheus.Registerer, m *instrument.Middleware, opts ...Option) (*Collector, error) {
	c := newCollector(m, newConfig(opts))
	err := r.Register(c)
	if err == nil {
		c.listen()
		return c, nil
	}
	var registered prometheus.AlreadyRegisteredError
	if errors.As(err, &registered) {
		first, ok := registered.ExistingCollector.(*Collector)
		if ok && first.m == m && first.config.equal(c.config) {
			return first, nil
		}
		return nil, ErrRegistered
	}
	if invalid := prometheus.NewRegistry().Register(c); invalid != nil { // no registry would have it
		return nil, fmt.Errorf("leaderscope: register: %w", invalid)
	}
	return nil, fmt.Errorf("%w: %w", ErrRegistered, err)
}

// listen attaches the Collector to the core where it needs every observation.
func (c *Collector) listen() {
	if !c.config.listens() {
		return
	}
	c.attach.Do(func() { c.detach = c.m.Attach(c.observer) })
}

// Close ends what New or Register started; a closed Collector still collects
// counters, gauges and classic histograms. Unregister it first. Closing again
// does nothing.
func (c *Collector) Close() {
	c.attach.Do(func() {})
	if c.detach != nil {
		c.detach()
	}
}

// labelNames are lock_name, where the metric has it, and the metric's own.
func labelNames(m *catalog.Metric) []string {
	var names []string
	if m.PerLock {
		names = append(names, catalog.LockName.Name)
	}
	for _, l := range m.Labels {
		names = append(names, l.Name)
	}
	return names
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(descs chan<- *prometheus.Desc) {
	descs <- c.marker
	for _, metric := range catalog.All() {
		descs <- c.descs[metric]
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(metrics chan<- prometheus.Metric) {
	s := scrape{c: c, metrics: metrics}
	c.m.Collect(s.add)
}
