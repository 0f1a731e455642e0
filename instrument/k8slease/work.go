package k8slease

import (
	"context"
	"runtime"
	"sync"

	"go.opentelemetry.io/otel/trace"

	"github.com/leaderscope/leaderscope/instrument"
)

// work is the body of OnStartedLeading while it runs. client-go may lose the
// lease and win it back within one Run, and the body continues: it is work of
// the first term, and then of the next.
type work struct {
	ctx context.Context // client-go's own

	mu       sync.Mutex
	returned bool
	end      func(returned bool) // ends the work under the present term; nil: no term
}

// do runs body as work of the term that l holds or held last.
func (w *work) do(l *lock, body func(context.Context)) {
	ctx := w.begin(l)
	returned := false
	defer func() { w.finish(returned) }()
	body(ctx)
	returned = true
}

func (w *work) begin(l *lock) context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := l.begins(w)
	if t == nil {
		return w.ctx
	}
	var ctx context.Context
	ctx, w.end = under(w.ctx, t)
	return trace.ContextWithSpan(w.ctx, trace.SpanFromContext(ctx))
}

// move makes a body that still runs work of t. One that was told to stop
// belongs to the term before.
func (w *work) move(t *instrument.Term) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.end == nil || w.returned || w.ctx.Err() != nil {
		return
	}
	w.end(true)
	_, w.end = under(w.ctx, t)
}

func (w *work) finish(returned bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.returned = true
	if w.end != nil {
		w.end(returned)
	}
}

// under counts work of t from now until end is called. Term.Work counts for as
// long as a function runs, and the body outlives it when the term changes: so
// a function that waits stands in for the body, in a goroutine of its own. The
// body itself stays in client-go's, where its panics belong.
func under(ctx context.Context, t *instrument.Term) (inner context.Context, end func(returned bool)) {
	started, ended, counted := make(chan context.Context), make(chan bool), make(chan struct{})
	go func() {
		defer close(counted)
		_ = t.Work(ctx, func(inner context.Context, _ *instrument.Term) error {
			started <- inner
			if returned := <-ended; !returned {
				runtime.Goexit() // as the body did, or as its panic does
			}
			return nil
		})
	}()
	return <-started, func(returned bool) {
		ended <- returned
		<-counted
	}
}
