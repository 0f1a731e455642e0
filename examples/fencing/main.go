//go:build unix

package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
)

func main() {
	keep := flag.Bool("keep", false, "leave the nodes running at the end, to inspect their /metrics")
	flag.Parse()
	stage.Main("fencing", nil, func(ctx context.Context) error {
		switch {
		case stage.IsNode():
			return runNode(ctx, flag.Args())
		case flag.NArg() > 0:
			return fmt.Errorf("%q: unexpected argument; the only flag is -keep", flag.Arg(0))
		default:
			return show(ctx, *keep)
		}
	})
}
