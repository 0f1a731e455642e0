package redis

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	. "github.com/leaderscope/leaderscope/cmd/leader-observer/internal/observe/observetest"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server answers in place of Redis.
type server struct {
	values map[string]string
	left   map[string]time.Duration // absent: for ever
	wrong  map[string]bool          // keys that are no strings
	// expires are keys that end between the two commands of a look.
	expires map[string]bool
	away    error
}

// wrongType is what Redis answers to GET of a list.
type wrongType struct{ error }

func (wrongType) RedisError() {}

func (s *server) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (s *server) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (s *server) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(_ context.Context, commands []redis.Cmder) error {
		if s.away != nil {
			return s.away
		}
		var first error
		for _, c := range commands {
			key := c.Args()[1].(string)
			switch c := c.(type) {
			case *redis.StringCmd:
				if value, there := s.values[key]; s.wrong[key] {
					c.SetErr(wrongType{errors.New("WRONGTYPE")})
				} else if there {
					c.SetVal(value)
				} else {
					c.SetErr(redis.Nil)
				}
			case *redis.DurationCmd:
				c.SetVal(-2) // of a key that is not there
				if left, limited := s.left[key]; limited {
					c.SetVal(left)
				} else if s.expires[key] {
					continue
				} else if _, there := s.values[key]; there || s.wrong[key] {
					c.SetVal(-1)
				}
			}
			if first == nil {
				first = c.Err()
			}
		}
		return first
	}
}

func (s *server) client(t *testing.T) *redis.Client {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	t.Cleanup(func() { _ = client.Close() })
	client.AddHook(s)
	return client
}

// The first 16 digits of the SHA-256 of "one" and "two".
const (
	digestOfOne = "7692c3ad3540bb80"
	digestOfTwo = "3fc4ccfe745870e2"
)

const every = 5 * time.Second

func polled(s electtest.Series) electtest.Series {
	return s.With(electtest.Series{"poll_interval_seconds": every.Seconds()})
}

func TestWhatTheLooksShowOfAKey(t *testing.T) {
	ends := func(in time.Duration) electtest.Series {
		return electtest.Series{"lease_expiry_timestamp_seconds": float64(time.Now().Add(in).Unix())}
	}
	for name, play := range map[string]func(s *server, looks func() error, f *Fixture){
		"free": func(_ *server, looks func() error, f *Fixture) {
			_ = looks()
			f.Shows("free", "x", polled(Free(0, 0)))
		},
		"held for a time": func(s *server, looks func() error, f *Fixture) {
			s.values, s.left = map[string]string{"x": "one"}, map[string]time.Duration{"x": 30 * time.Second}
			_ = looks()
			f.Shows("held", "x", polled(Held(digestOfOne, 0, 0)).With(ends(30*time.Second)))
		},
		"held for ever": func(s *server, looks func() error, f *Fixture) {
			s.values = map[string]string{"x": "one"}
			_ = looks()
			f.Shows("held", "x", polled(Held(digestOfOne, 0, 0)))
		},
		// No gap is told: how long there was no holder is not known.
		"from one to another between two looks": func(s *server, looks func() error, f *Fixture) {
			s.values = map[string]string{"x": "one"}
			_ = looks()
			time.Sleep(every)
			s.values = map[string]string{"x": "two"}
			_ = looks()
			f.Shows("held by the other", "x", polled(Held(digestOfTwo, 1, 0)))
		},
		"given back and taken": func(s *server, looks func() error, f *Fixture) {
			s.values = map[string]string{"x": "one"}
			_ = looks()
			time.Sleep(every)
			s.values = nil
			_ = looks()
			f.Shows("given back", "x", polled(Free(0, 0)))
			time.Sleep(every)
			s.values = map[string]string{"x": "two"}
			_ = looks()
			f.Shows("taken", "x", polled(Held(digestOfTwo, 1, 5)).With(Gaps(1, 5)))
		},
		"no string": func(s *server, looks func() error, f *Fixture) {
			s.wrong, s.values = map[string]bool{"x": true}, map[string]string{"y": "one"}
			if err := looks(); err != nil {
				t.Error(err)
			}
			f.Shows("unknown", "x", Unknown(0, 0))
		},
		"no answer": func(s *server, looks func() error, f *Fixture) {
			s.away = io.EOF
			if err := looks(); !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			f.Shows("away", "x", electtest.Series{"up": 0})
		},
		"gone between the two commands of a look": func(s *server, looks func() error, f *Fixture) {
			s.values, s.expires = map[string]string{"x": "one"}, map[string]bool{"x": true}
			_ = looks()
			f.Shows("free", "x", polled(Free(0, 0)))
		},
		"in its last millisecond": func(s *server, looks func() error, f *Fixture) {
			s.values, s.left = map[string]string{"x": "one"}, map[string]time.Duration{"x": 0}
			_ = looks()
			f.Shows("over", "x", polled(Free(0, 0)).With(ends(0)))
		},
		"held for a time, then for ever": func(s *server, looks func() error, f *Fixture) {
			s.values, s.left = map[string]string{"x": "one"}, map[string]time.Duration{"x": 30 * time.Second}
			_ = looks()
			time.Sleep(every)
			s.left = nil
			_ = looks()
			f.Shows("held", "x", polled(Held(digestOfOne, 0, 0)))
		},
		"an empty value": func(s *server, looks func() error, f *Fixture) {
			s.values = map[string]string{"x": ""}
			_ = looks()
			f.Shows("held", "x", polled(Held("e3b0c44298fc1c14", 0, 0)))
		},
		"looks that fail to come": func(s *server, looks func() error, f *Fixture) {
			s.values = map[string]string{"x": "one"}
			_ = looks()
			time.Sleep(20 * time.Second)
			f.Shows("two are missing", "x", polled(Held(digestOfOne, 0, 0)))
			time.Sleep(time.Nanosecond)
			f.Shows("the third is missing", "x", polled(Unknown(0, 0)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, s := New(t, 0), &server{}
				watched, client := Source{Every: every, Keys: []string{"x"}}.Watch(f.Backend), s.client(t)
				play(s, func() error { return watched.look(t.Context(), client) }, f)
			})
		})
	}
}

// What a key holds gives the right to delete it.
func TestTheValueOfAKeyIsNeverShown(t *testing.T) {
	f, s := New(t, 0), &server{values: map[string]string{"x": "secret"}}
	if err := (Source{Every: every, Keys: []string{"x"}}).Watch(f.Backend).look(t.Context(), s.client(t)); err != nil {
		t.Fatal(err)
	}
	if got := f.Series("x"); got["held"] != 1 || got["holder/secret"] != 0 {
		t.Error(got)
	}
}

func TestAServerThatIsAwayEndsTheWatch(t *testing.T) {
	f := New(t, 0)
	refused := errors.New("refused")
	s := Source{Every: every, Keys: []string{"x"}, Options: &redis.Options{MaxRetries: -1, Dialer: func(context.Context, string, string) (net.Conn, error) { return nil, refused }}}
	if err := s.Watch(f.Backend).Run(t.Context()); !errors.Is(err, refused) {
		t.Error(err)
	}
	if f.Reached() {
		t.Error("it was reached")
	}
}
