//go:build unix

package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Main is what an example's main does: it runs the program until it ends or is
// interrupted, and says what was wrong. misused is what was already found
// wrong with the command line, if anything.
func Main(name string, misused error, run func(context.Context) error) {
	fail := func(err error, status int) {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(status)
	}
	if misused != nil {
		fail(misused, 2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx)
	// An interrupt is not an error.
	if interrupted := ctx.Err() != nil && errors.Is(err, context.Canceled); err != nil && !interrupted {
		fail(err, 1)
	}
	stop()
}
