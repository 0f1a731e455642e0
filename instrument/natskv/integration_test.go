//go:build integration

package natskv

import (
	"os"
	"testing"
)

// TestConformanceOfAServer runs the suite against a server with JetStream,
// such as LEADERSCOPE_NATS=nats://127.0.0.1:4222.
func TestConformanceOfAServer(t *testing.T) {
	url := os.Getenv("LEADERSCOPE_NATS")
	if url == "" {
		t.Fatal("LEADERSCOPE_NATS is not set; it names a NATS server with JetStream, such as nats://127.0.0.1:4222")
	}
	conform(t, url)
}
