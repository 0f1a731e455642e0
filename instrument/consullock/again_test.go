package consullock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// away is a lock whose next releases get no answer.
type away struct {
	locker
	unanswered, asked int
}

func (l *away) release(context.Context) error {
	l.asked++
	if l.asked <= l.unanswered {
		return errors.New("connection reset")
	}
	return nil
}

func TestAReleaseWithoutAnAnswerIsMadeAgainWhileTheSessionMayLive(t *testing.T) {
	known := func(sent time.Duration) func() *Sessions {
		return func() *Sessions {
			return &Sessions{known: map[string]*session{"s": {ttl: 10 * time.Second, sent: time.Now().Add(sent)}}}
		}
	}
	for name, c := range map[string]struct {
		sessions func() *Sessions
		asked    int
	}{
		"one that lives":                {known(0), 3},
		"one that the server dropped":   {known(-time.Minute), 1},
		"one that the client ended":     {func() *Sessions { return &Sessions{} }, 1},
		"one whose renewals are unseen": {func() *Sessions { return nil }, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, ended := &away{unanswered: 2}, 0
				h := &holding{sessions: c.sessions(), session: "s", lock: l, stop: func() {}, end: func() { ended++ }}
				if err := h.release(t.Context()); err == nil {
					t.Error("the release without an answer has succeeded")
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if l.asked != c.asked || ended != 1 {
					t.Errorf("asked %d times, want %d; the session ended %d times", l.asked, c.asked, ended)
				}
				if err := h.release(t.Context()); err != nil || l.asked != c.asked {
					t.Errorf("a second release: %v, asked %d times", err, l.asked)
				}
			})
		})
	}
}

func TestASessionThatIsForgottenIsOver(t *testing.T) {
	s := &Sessions{known: map[string]*session{"a": {ttl: time.Minute, sent: time.Now()}, "b": {ttl: time.Minute, sent: time.Now()}}}
	s.forget("a")
	if !s.finished("a") || s.finished("b") || s.has("a") || !s.has("b") {
		t.Errorf("known: %v", s.known)
	}
}
