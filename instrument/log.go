package instrument

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/internal/registry"
)

// maxQueuedLogs bounds what waits for a slow handler.
const maxQueuedLogs = 256

// logQueue hands records to the user's handler from a goroutine that lives
// while there is something to write, so that a slow or panicking handler
// never meets the elector.
type logQueue struct {
	logger *slog.Logger // nil is slog.Default, for notices
	fault  func()

	mu      sync.Mutex
	waiting []slog.Record
	writing bool
}

func newLogQueue(l *slog.Logger, fault func()) logQueue { return logQueue{logger: l, fault: fault} }

func (q *logQueue) put(level slog.Level, message string, attrs ...slog.Attr) {
	r := slog.NewRecord(time.Now(), level, message, 0)
	r.AddAttrs(attrs...)
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) >= maxQueuedLogs {
		q.fault()
		return
	}
	q.waiting = append(q.waiting, r)
	if !q.writing {
		q.writing = true
		go q.drain()
	}
}

func (q *logQueue) drain() {
	ended := false
	defer func() {
		if ended {
			return
		}
		q.fault() // the handler has ended the goroutine
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.writing = len(q.waiting) > 0; q.writing {
			go q.drain()
		}
	}()
	for {
		q.mu.Lock()
		if len(q.waiting) == 0 {
			q.waiting, q.writing, ended = nil, false, true
			q.mu.Unlock()
			return
		}
		r := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.mu.Unlock()
		q.write(r)
	}
}

func (q *logQueue) write(r slog.Record) {
	defer func() {
		if recover() != nil {
			q.fault()
		}
	}()
	ctx, logger := context.Background(), q.logger
	if logger == nil {
		logger = slog.Default()
	}
	if h := logger.Handler(); h.Enabled(ctx, r.Level) {
		if h.Handle(ctx, r) != nil {
			q.fault()
		}
	}
}

// notice logs what a program should change about its own set-up, also without
// WithLogger.
func (m *Middleware) notice(message string, attrs ...slog.Attr) {
	m.logs.put(slog.LevelWarn, "leaderscope: "+message, attrs...)
}

// The notices that are given once for a lock, and once for a label that locks
// share.
const (
	saidUnknown = 1 << iota
	saidOptions
)

// say reports whether a notice is due, and that it was given.
func (e *Election) say(what uint32) bool { return e.lock.Say(what) }

func (e *Election) labelAttr() slog.Attr { return slog.String(catalog.LockName.Name(), e.Label()) }

// typeAttr names the type of an error, whose text may carry what the label
// hides.
func typeAttr(err error) slog.Attr { return slog.String("error_type", typeName(err)) }

// logGained logs a win, and the end of a term whose lease had ended when it was
// won. The caller holds the mutex.
func (t *Term) logGained() {
	if t.e.m.logger == nil || !t.state.Recorded() {
		return
	}
	x := t.extra()
	attrs := []slog.Attr{t.e.labelAttr()}
	if x.fenced {
		attrs = append(attrs, slog.Uint64("fencing_token", x.token))
	}
	t.e.m.logs.put(slog.LevelInfo, "leadership gained", attrs...)
	x.logged = false
	if _, ended := t.state.Ended(); ended {
		x.logged = true
		t.e.m.logEnded(t)
	}
}

// logEnded logs how a term ended. The caller holds the mutex.
func (m *Middleware) logEnded(t *Term) {
	if m.logger == nil || !t.state.Recorded() {
		return
	}
	cause, _ := t.state.Ended()
	level, message := slog.LevelWarn, "leadership lost"
	switch cause {
	case catalog.Released:
		level, message = slog.LevelInfo, "leadership released"
	case catalog.GaveUp:
		message = "leadership given up"
	}
	m.logs.put(level, message, t.e.labelAttr(), slog.String("cause", cause.String()),
		slog.Duration("held", t.state.Held(m.now())))
}

func (m *Middleware) logRenewalFailed(t *Term, result catalog.RenewalResult) {
	if m.logger == nil || !t.recorded() {
		return
	}
	m.logs.put(slog.LevelWarn, "lease renewal failed", t.e.labelAttr(), slog.String("result", result.String()))
}

func overran(l *registry.Lock) { l.Owner.(*Election).logOverruns() }

// logOverruns logs what the state has found since the last time. The caller
// holds the mutex.
func (e *Election) logOverruns() {
	n := e.lock.Unlogged
	e.lock.Unlogged = 0
	if e.m.logger == nil {
		return
	}
	for range n {
		e.m.logs.put(slog.LevelWarn, "lease overrun", e.labelAttr())
	}
}
