package gocronlead

import (
	"context"
	"errors"
	"runtime"

	"github.com/go-co-op/gocron/v2"

	"github.com/leaderscope/leaderscope/instrument"
)

// run is one run of a job, as work of a term. gocron runs it elsewhere.
type run struct {
	done   chan struct{} // closed when the job has returned
	worked chan struct{} // closed when that is recorded
	err    error         // of the job; set before done is closed

	// of a job under a lock, guarded by the mutex of its locker
	began, ended bool
}

func startRun(ctx context.Context, term *instrument.Term) *run {
	r := &run{done: make(chan struct{}), worked: make(chan struct{})}
	started := make(chan struct{})
	go func() {
		defer close(r.worked)
		_ = term.Work(ctx, func(context.Context, *instrument.Term) error {
			close(started)
			<-r.done
			if errors.Is(r.err, gocron.ErrPanicRecovered) {
				runtime.Goexit() // what does not return has panicked
			}
			return r.err
		})
	}()
	<-started
	return r
}

// end says that the job has returned, and waits until that is recorded.
func (r *run) end() {
	close(r.done)
	<-r.worked
}
