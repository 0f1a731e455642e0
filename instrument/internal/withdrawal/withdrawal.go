// Package withdrawal releases a lock that a request may have won although its
// answer was lost. It is for adapters of locks that would exclude other replicas
// until their lease ends.
//
// How the lock is released is decided in the adapter.
package withdrawal

import (
	"context"
	"time"
)

const (
	// timeout bounds one attempt, and is the time until the next. After failures
	// that time doubles up to longest.
	timeout = time.Second
	longest = 30 * time.Second
	// most limits the withdrawals that run at once in a process, even if the
	// server stays away. A lock that is not withdrawn ends with its lease.
	most = 100
)

var open = make(chan struct{}, most)

// Run calls giveBack, under contexts with the values of ctx, until it has
// worked twice: that it worked once shows little, since the request for the
// lock may be on its way still. It stops when closed says of an error that the
// program has closed its client, and after the time that the lock may live.
func Run(ctx context.Context, lives time.Duration, giveBack func(context.Context) error, closed func(error) bool) {
	select {
	case open <- struct{}{}:
	default:
		return
	}
	defer func() {
		<-open
		_ = recover() // of the client's hooks; the attempt has told of them
	}()
	ctx = context.WithoutCancel(ctx)
	pause := min(timeout, lives/4)
	for begun, worked := time.Now(), 0; ; time.Sleep(pause) {
		switch err := once(ctx, giveBack); {
		case err == nil:
			worked++
		case closed(err):
			return
		default:
			pause = min(2*pause, longest)
		}
		if worked == 2 || time.Since(begun) > lives {
			return
		}
	}
}

func once(ctx context.Context, giveBack func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return giveBack(ctx)
}
