// Package parity holds the tests that the series of leaderscope are the same
// whichever way they are exported: client_golang, OpenTelemetry's Prometheus
// exporter, OTLP. What one exporter does by itself is tested beside it.
package parity
