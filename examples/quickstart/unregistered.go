package main

import "github.com/prometheus/client_golang/prometheus"

// unregistered is a Registerer for Prometheus' own metrics, which nobody
// scrapes here.
type unregistered struct{}

func (unregistered) Register(prometheus.Collector) error  { return nil }
func (unregistered) MustRegister(...prometheus.Collector) {}
func (unregistered) Unregister(prometheus.Collector) bool { return true }
