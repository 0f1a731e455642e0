package consullock

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/leaderscope/leaderscope/instrument"
)

const (
	// cleanUpWait is how long a call waits after its context has ended for what it
	// asked, so that where Consul answers nothing is left when the call returns.
	cleanUpWait = 250 * time.Millisecond
	// repeatAfter is the time to the second request of a clean-up; it doubles up
	// to repeatAtMost. repeatTimeout bounds each.
	repeatAfter   = 100 * time.Millisecond
	repeatAtMost  = 5 * time.Second
	repeatTimeout = time.Second
)

// call is a call of the client, which takes no context.
type call[T any] struct {
	do func() (T, error)
	// late takes the result when the caller has gone; nil: nothing does.
	late func(T, error)
	// done is called when nothing of the call runs any longer; nil: no call.
	done func()
}

// detached makes a call and returns when ctx ends. returned is false when the
// call has not.
func detached[T any](ctx context.Context, c call[T]) (value T, err error, returned bool) {
	type result struct {
		value    T
		err      error
		panicked any
	}
	results, gone := make(chan result), make(chan struct{})
	go func() {
		if c.done != nil {
			defer c.done()
		}
		var r result
		defer func() {
			r.panicked = recover()
			select {
			case results <- r:
			case <-gone:
				if c.late != nil && r.panicked == nil {
					c.late(r.value, r.err)
				}
			}
		}()
		r.value, r.err = c.do()
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

// repeat makes a request until it has an answer, or ctx ends.
func repeat(ctx context.Context, request func(context.Context) error) error {
	for wait := repeatAfter; ; wait = min(2*wait, repeatAtMost) {
		asking, cancel := context.WithTimeout(ctx, repeatTimeout)
		err := request(asking)
		cancel()
		if !passing(err) {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// passing reports errors that another request need not meet.
func passing(err error) bool {
	if err == nil || errors.Is(err, instrument.ErrSessionLost) || isNamed(err) {
		return false
	}
	answer, ok := errors.AsType[api.StatusError](err)
	return !ok || answer.Code >= http.StatusInternalServerError
}

// named are the errors by which the client tells what a lock is.
var named = []error{
	api.ErrLockHeld, api.ErrLockNotHeld, api.ErrLockConflict,
	api.ErrSemaphoreHeld, api.ErrSemaphoreNotHeld, api.ErrSemaphoreConflict,
}

func isNamed(err error) bool { return slices.Contains(named, err) }
