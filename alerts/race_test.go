//go:build race

package alerts

// With the race detector a scenario takes several times as long, and plays in
// one goroutine: every fourth is played again with other labels and as
// Prometheus 2 does.
func init() { again = 4 }
