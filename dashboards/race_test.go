//go:build race

package dashboards

// With the race detector a build takes several times as long. make compat builds
// each board as often as it should be, without it.
func init() { again = 5 }
