// Package prom exports a Middleware through client_golang: a Collector that
// reads the core when it is scraped and keeps no counts of its own. Names,
// labels and help texts are the catalogue's.
package prom

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Collector collects the series of one Middleware. It is safe for concurrent
// use.
type Collector struct {
	m     *instrument.Middleware
	descs map[*catalog.Metric]*prometheus.Desc
}

// New makes a Collector, to be registered by the caller. Several Collectors
// may read one Middleware; they show the same counts.
func New(m *instrument.Middleware) *Collector {
	c := &Collector{m: m, descs: map[*catalog.Metric]*prometheus.Desc{}}
	for _, metric := range catalog.All() {
		c.descs[metric] = prometheus.NewDesc(metric.Name, metric.Help, labelNames(metric), nil)
	}
	return c
}

// Register makes a Collector of m and registers it with r. If m is registered
// there already, the first Collector is returned, so that building a service
// twice on one registry is no error and loses no counts. Another Middleware on
// the same registry is an error.
func Register(r prometheus.Registerer, m *instrument.Middleware) (*Collector, error) {
	c := New(m)
	err := r.Register(c)
	if err == nil {
		return c, nil
	}
	var registered prometheus.AlreadyRegisteredError
	if errors.As(err, &registered) {
		if first, ok := registered.ExistingCollector.(*Collector); ok && first.m == m {
			return first, nil
		}
		return nil, errors.New("leaderscope: another middleware is registered on this registry; share one middleware, or wrap the registerer with a label that tells them apart")
	}
	return nil, fmt.Errorf("leaderscope: register: %w", err)
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
	for _, metric := range catalog.All() {
		descs <- c.descs[metric]
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(metrics chan<- prometheus.Metric) {
	c.m.Collect(func(s *instrument.Sample) {
		metrics <- newMetric(c.descs[s.Metric], s)
	})
}
