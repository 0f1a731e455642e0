//go:build race

package alerts

// With the race detector a scenario takes several times as long, and plays in
// one goroutine: every eighth is played again with other labels and as
// Prometheus 2 does. make integration-prometheus plays all.
func init() { again = 8 }
