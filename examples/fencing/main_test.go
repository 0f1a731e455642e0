//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// TestMain lets copies of the test binary be nodes.
func TestMain(m *testing.M) {
	isNode, err := runCopy(context.Background())
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	case !isNode:
		os.Exit(m.Run())
	}
}
