package k8slease

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/trace"

	"github.com/leaderscope/leaderscope/instrument"
)

// work is a body while it runs. The elector may lose the lease and win it back
// within one Run, and the body continues: it is work of the first term, and
// then of the next.
type work struct {
	ctx context.Context // as its caller gave it

	mu       sync.Mutex
	returned bool
	end      func(returned bool, err error) // ends the work under the present term
}

// begin counts the body in under the term that l holds or held last.
func (w *work) begin(l *ResourceLock) context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	var ctx context.Context
	ctx, w.end = under(w.ctx, l.begins(w))
	return trace.ContextWithSpan(w.ctx, trace.SpanFromContext(ctx))
}

// move makes a body that still runs work of t. One that was told to stop
// belongs to the term before.
func (w *work) move(t *instrument.Term) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.returned || w.ctx.Err() != nil {
		return
	}
	w.end(true, nil)
	_, w.end = under(w.ctx, t)
}

func (w *work) finish(l *ResourceLock, returned bool, err error) {
	l.ended(w)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.returned = true
	w.end(returned, err)
}

// begins keeps a body for the next term of the same Run, and returns the term
// that it belongs to; nil, which records nothing, before the first.
func (l *ResourceLock) begins(w *work) *instrument.Term {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil {
		return nil
	}
	l.works = append(l.works, w)
	return l.last.term
}

func (l *ResourceLock) ended(w *work) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.works = slices.DeleteFunc(l.works, func(o *work) bool { return o == w })
}

// under counts work of t from now until end is called. Term.Work counts for as
// long as a function runs, and the body outlives it when the term changes: so
// a function that waits stands in for the body, in a goroutine of its own. The
// body itself stays in its caller's, where its panics belong.
func under(ctx context.Context, t *instrument.Term) (inner context.Context, end func(returned bool, err error)) {
	type ending struct {
		returned bool
		err      error
	}
	started, ended, counted := make(chan context.Context), make(chan ending), make(chan struct{})
	go func() {
		defer close(counted)
		_ = t.Work(ctx, func(inner context.Context, _ *instrument.Term) error {
			started <- inner
			body := <-ended
			if !body.returned {
				runtime.Goexit() // as the body did, or as its panic does
			}
			return body.err
		})
	}()
	return <-started, func(returned bool, err error) {
		ended <- ending{returned, err}
		<-counted
	}
}
