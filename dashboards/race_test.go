//go:build race

package dashboards

// With the race detector a build takes several times as long. make compat builds
// each board twenty times, without it.
func init() { again = 5 }
