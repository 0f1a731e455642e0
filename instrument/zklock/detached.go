package zklock

import (
	"context"
	"time"
)

// cleanUpWait is how long a call waits after its context has ended for what it
// asked, so that where the server answers nothing is left when the call returns.
const cleanUpWait = 250 * time.Millisecond

// detached makes a call that takes no context, and returns when ctx ends;
// returned is false when the call has not. What it returns later without an
// error goes to late.
func detached[T any](ctx context.Context, do func() (T, error), late func(T)) (value T, err error, returned bool) {
	type result struct {
		value    T
		err      error
		panicked any
	}
	results, gone := make(chan result), make(chan struct{})
	go func() {
		var r result
		defer func() {
			r.panicked = recover()
			select {
			case results <- r:
			case <-gone:
				if r.err == nil && r.panicked == nil {
					late(r.value)
				}
			}
		}()
		r.value, r.err = do()
	}()
	var r result
	select {
	case r = <-results:
	case <-ctx.Done():
		select {
		case r = <-results:
		case <-time.After(cleanUpWait):
			close(gone)
			return value, context.Cause(ctx), false
		}
	}
	if r.panicked != nil {
		panic(r.panicked) // the client's own, for the caller
	}
	return r.value, r.err, true
}
