package redislocklead

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	s   = time.Second
	way = 20 * time.Millisecond // of a request to the server, and of its answer
	// readTimeout is after what go-redis stops to wait for an answer; until then
	// it does not look at its context.
	readTimeout = 90 * s
)

// fault is what becomes of requests.
type fault uint8

const (
	none     fault = iota
	silent         // they are carried out, and the answer is lost
	deaf           // they do not arrive
	refused        // no connection
	readOnly       // the server answers with an error
	closed         // the program has closed the client
	ended          // the connection ends before the answer
	panics         // a hook of the client panics
)

func (f fault) String() string {
	return [...]string{"healthy", "silent", "deaf", "refused", "read-only", "closed", "ended", "panicking"}[f]
}

// server is a Redis in memory that knows the scripts of redislock and counts
// in milliseconds.
type server struct {
	redis.Scripter

	mu    sync.Mutex
	keys  map[string]entry
	fault fault
	late  time.Duration   // after which a request arrives that was not answered
	asked []time.Time     // when requests for the lock arrived
	last  context.Context // of the last request
}

type entry struct {
	value string
	end   time.Time
}

func newServer() *server { return &server{keys: map[string]entry{}} }

func (r *server) breaks(f fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = f
}

// set is what another client writes.
func (r *server) set(key, value string, ttl time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys[key] = entry{value, time.Now().Add(ttl)}
}

func (r *server) del(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.keys, key)
}

// pexpire changes how long the key lives.
func (r *server) pexpire(key string, ttl time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, there := r.get(key); there {
		r.keys[key] = entry{e.value, time.Now().Add(ttl)}
	}
}

// remaining is how long the key lives.
func (r *server) remaining(key string) (timeLeft time.Duration, there bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, there := r.get(key)
	return time.Until(e.end), there
}

func (r *server) value(key string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, _ := r.get(key)
	return e.value
}

func (r *server) requests() []time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

func (r *server) get(key string) (entry, bool) {
	e, there := r.keys[key]
	if !there || !time.Now().Before(e.end) {
		return entry{}, false
	}
	return e, true
}

// answer is an error that Redis answers.
type answer string

func (a answer) Error() string { return string(a) }
func (answer) RedisError()     {}

// EvalSha does not know the script yet.
func (r *server) EvalSha(ctx context.Context, _ string, _ []string, _ ...any) *redis.Cmd {
	return result(ctx, nil, answer("NOSCRIPT No matching script"))
}

func (r *server) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	if err := ctx.Err(); err != nil {
		return result(ctx, nil, err)
	}
	r.mu.Lock()
	f, late := r.fault, r.late
	r.last = ctx
	r.mu.Unlock()
	switch f {
	case refused:
		return result(ctx, nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errors.New("refused"))})
	case readOnly:
		return result(ctx, nil, answer("READONLY You can't write against a read only replica."))
	case closed:
		return result(ctx, nil, redis.ErrClosed)
	case panics:
		panic("hook")
	}
	time.Sleep(way)
	if f == none || f == silent || f == ended {
		v, err := r.eval(script, keys[0], args)
		if f == none {
			time.Sleep(way)
			return result(ctx, v, err)
		}
	}
	if f == ended {
		return result(ctx, nil, net.ErrClosed)
	}
	if late > 0 {
		time.AfterFunc(late, func() { _, _ = r.eval(script, keys[0], args) })
	}
	time.Sleep(readTimeout)
	if err := ctx.Err(); err != nil { // it looks before it tries again
		return result(ctx, nil, err)
	}
	return result(ctx, nil, &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded})
}

func result(ctx context.Context, v any, err error) *redis.Cmd {
	c := redis.NewCmd(ctx)
	c.SetVal(v)
	c.SetErr(err)
	return c
}

// eval carries out one of redislock's scripts.
func (r *server) eval(script, key string, args []any) (any, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	value, _ := args[0].(string)
	e, there := r.get(key)
	switch {
	case strings.Contains(script, `"NX"`):
		r.asked = append(r.asked, time.Now())
		token, _ := args[1].(int)
		if there && !strings.HasPrefix(e.value, value[:token]) {
			return nil, redis.Nil
		}
		r.keys[key] = entry{value, time.Now().Add(millis(args[2]))}
		return "OK", nil
	case !there || e.value != value:
		return int64(0), nil
	case strings.Contains(script, `"pexpire"`):
		r.keys[key] = entry{value, time.Now().Add(millis(args[1]))}
	case strings.Contains(script, `"del"`):
		delete(r.keys, key)
	}
	return int64(1), nil
}

func millis(arg any) time.Duration {
	text, _ := arg.(string)
	n, _ := strconv.ParseInt(text, 10, 64)
	return time.Duration(n) * time.Millisecond
}
