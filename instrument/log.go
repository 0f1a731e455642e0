package instrument

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// maxQueuedLogs bounds what waits for a slow handler.
const maxQueuedLogs = 256

// logQueue hands records to the user's handler from a goroutine that lives
// while there is something to write, so that a slow or panicking handler
// never meets the elector.
type logQueue struct {
	logger *slog.Logger
	fault  func()

	mu      sync.Mutex
	waiting []slog.Record
	writing bool
}

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
	for {
		q.mu.Lock()
		batch := q.waiting
		q.waiting = nil
		if len(batch) == 0 {
			q.writing = false
			q.mu.Unlock()
			return
		}
		q.mu.Unlock()
		for _, r := range batch {
			q.write(r)
		}
	}
}

func (q *logQueue) write(r slog.Record) {
	defer func() {
		if recover() != nil {
			q.fault()
		}
	}()
	ctx := context.Background()
	if h := q.logger.Handler(); h.Enabled(ctx, r.Level) {
		if h.Handle(ctx, r) != nil {
			q.fault()
		}
	}
}

func (m *Middleware) logGained(t *Term) {
	if m.logger == nil {
		return
	}
	attrs := []slog.Attr{lockAttr(t)}
	if token, ok := t.FencingToken(); ok {
		attrs = append(attrs, slog.Uint64("fencing_token", token))
	}
	m.logs.put(slog.LevelInfo, "leadership gained", attrs...)
}

func (m *Middleware) logEnded(t *Term, cause catalog.EndCause) {
	if m.logger == nil {
		return
	}
	level, message := slog.LevelWarn, "leadership lost"
	if cause == catalog.Released {
		level, message = slog.LevelInfo, "leadership released"
	}
	m.logs.put(level, message, lockAttr(t), slog.String("cause", cause.String()),
		slog.Duration("held", t.stoppedAt().sub(t.began)))
}

func (m *Middleware) logRenewalFailed(t *Term, result catalog.RenewalResult) {
	if m.logger == nil {
		return
	}
	m.logs.put(slog.LevelWarn, "lease renewal failed", lockAttr(t), slog.String("result", result.String()))
}

func (m *Middleware) logOverrun(t *Term) {
	if m.logger == nil {
		return
	}
	m.logs.put(slog.LevelWarn, "lease overrun", lockAttr(t))
}

func lockAttr(t *Term) slog.Attr { return slog.String(catalog.LockName.Name, t.e.Label()) }
