// Package interruptible ends the wait for a call that does not look at its
// context, for adapters of clients that read until a timeout of their own.
//
// What the call does to its server belongs to the adapter.
package interruptible

import (
	"context"
	"runtime"
)

// Call returns what f answers, or the error of ctx as soon as ctx ends. Then f
// continues in the background, and late, unless it is nil, is given the answer
// when it comes. A panic of f is one of Call, and so is runtime.Goexit; of a
// call that was given up both are dropped.
func Call[T any](ctx context.Context, f func() (T, error), late func(T, error)) (T, error) {
	if ctx.Done() == nil {
		return f()
	}
	answer, abandoned := make(chan outcome[T]), make(chan struct{})
	go func() {
		o := outcome[T]{how: exited}
		defer func() {
			if o.how == exited {
				if o.panicked = recover(); o.panicked != nil {
					o.how = panicked
				}
			}
			select {
			case answer <- o:
			case <-abandoned:
				if late != nil && o.how == returned {
					late(o.value, o.err)
				}
			}
		}()
		o.value, o.err = f()
		o.how = returned
	}()
	select {
	case o := <-answer:
		return o.unpack()
	case <-ctx.Done():
	}
	select {
	case o := <-answer: // both at once: the answer counts
		return o.unpack()
	default:
		close(abandoned)
		var none T
		return none, ctx.Err()
	}
}

type ending uint8

const (
	exited ending = iota // by runtime.Goexit
	returned
	panicked
)

type outcome[T any] struct {
	value    T
	err      error
	panicked any
	how      ending
}

func (o outcome[T]) unpack() (T, error) {
	switch o.how {
	case panicked:
		panic(o.panicked)
	case exited:
		runtime.Goexit()
	}
	return o.value, o.err
}

// Do is Call for a function that answers with an error alone.
func Do(ctx context.Context, f func() error) error {
	_, err := Call(ctx, func() (struct{}, error) { return struct{}{}, f() }, nil)
	return err
}
