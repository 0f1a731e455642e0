package gocronlead_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/leaderscope/leaderscope/instrument"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const s = time.Second

var (
	errHeld   = errors.New("locker: held")
	errDown   = errors.New("locker: down")
	errFailed = errors.New("job failed")
	// errNotObtained is the only error of gocron-redis-lock.
	errNotObtained = errors.New("gocron: failed to obtain lock")
)

// locker is a gocron.Locker with one answer.
type locker struct {
	lock gocron.Lock
	err  error
}

func (k *locker) Lock(context.Context, string) (gocron.Lock, error) {
	if k.lock == nil && k.err == nil {
		panic("of the locker")
	}
	return k.lock, k.err
}

// held is a lock without capabilities.
type held struct{ err error }

func (l *held) Unlock(context.Context) error { return l.err }

// fenced is a lock with a token and a lease of 10 s.
type fenced struct {
	held
	end time.Time
}

func (*fenced) FencingToken() (uint64, bool) { return 7, true }
func (l *fenced) Expiry() time.Time          { return l.end }
func (*fenced) LeaseDuration() time.Duration { return 10 * s }

// broken has capabilities that panic, as those of a typed nil pointer.
type broken struct{ held }

func (*broken) FencingToken() (uint64, bool) { panic("token") }
func (*broken) Expiry() time.Time            { panic("expiry") }
func (*broken) Lost() <-chan struct{}        { panic("lost") }

// watched reports a loss.
type watched struct {
	held
	lost chan struct{}
}

func (l *watched) Watch(ctx context.Context, k instrument.Sink) {
	select {
	case <-ctx.Done():
	case <-l.lost:
		k.Lost(instrument.ErrSessionLost)
	}
}

// noticed closes a channel when it is lost.
type noticed struct {
	held
	lost chan struct{}
}

func (l *noticed) Lost() <-chan struct{} { return l.lost }

// job is what a monitor is given.
type job struct {
	gocron.Job
	name string
	id   uuid.UUID
}

func (j job) Name() string  { return j.name }
func (j job) ID() uuid.UUID { return j.id }

func named(name string) job {
	return job{name: name, id: uuid.NewSHA1(uuid.NameSpaceURL, []byte(name))}
}

// errPanicked is the error of a job whose panic gocron has recovered.
var errPanicked = fmt.Errorf("%w from %v", gocron.ErrPanicRecovered, "no such tenant")

// asks is an elector whose answers a test changes.
type asks struct{ answer error }

func (a *asks) IsLeader(context.Context) error { return a.answer }

// sqlState is an error of a server, as drivers have it.
type sqlState string

func (s sqlState) Error() string    { return "ERROR (SQLSTATE " + string(s) + ")" }
func (s sqlState) SQLState() string { return string(s) }
