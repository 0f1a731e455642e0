package main

import "github.com/prometheus/client_golang/prometheus"

// unregistered is a Registerer for Prometheus' own metrics, which no reader of the demo
// scrapes here.
type unregistered struct{}

func (unregistered) Register(prometheus.Collector) error  { return nil }
func (unregistered) MustRegister(...prometheus.Collector) {}
func (unregistered) Unregister(prometheus.Collector) bool { return true }
