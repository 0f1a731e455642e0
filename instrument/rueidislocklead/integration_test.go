//go:build integration

package rueidislocklead

import (
	"os"
	"testing"
)

// real is a server, with the client-side cache and without.
func real(t *testing.T, run func(*testing.T, server)) {
	t.Helper()
	address := os.Getenv("LEADERSCOPE_REDIS")
	if address == "" {
		t.Fatal("LEADERSCOPE_REDIS is not set; it names a Redis server, such as 127.0.0.1:6379")
	}
	t.Run("with the client-side cache", func(t *testing.T) { run(t, server{address, true}) })
	t.Run("without the client-side cache", func(t *testing.T) { run(t, server{address, false}) })
}

func TestConformanceOfAServer(t *testing.T) {
	real(t, func(t *testing.T, v server) { v.conform(t) })
}

func TestAttacksOnAServer(t *testing.T) {
	real(t, func(t *testing.T, v server) { v.attack(t) })
}
