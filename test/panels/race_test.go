//go:build race

package panels

// With the race detector a scenario takes several times as long, and plays in
// one goroutine: every fourth is played.
func init() { every = 4 }
