package canary

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.opentelemetry.io/otel/baggage"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// errLeaky is what a client's errors look like: the key that it asked for, and
// a password.
var errLeaky = fmt.Errorf("SET %s NX: dial redis://user:%s@db: connection refused", canary, canary)

// leaky is a lease that shows the name wherever it is asked.
type leaky struct {
	Name    string
	release error
	renew   error
	watch   func(instrument.Sink)
}

func (l leaky) Release(context.Context) error { return l.release }
func (l leaky) Renew(context.Context) error   { return l.renew }
func (l leaky) String() string                { return l.Name }
func (l leaky) Watch(_ context.Context, s instrument.Sink) {
	if l.watch != nil {
		l.watch(s)
	}
}

// loud is a context that is printed with what it carries.
type loud struct {
	context.Context
	Name string
}

// talkative panics with the name at each question.
type talkative struct{ leaky }

func (talkative) Expiry() time.Time            { panic(canary) }
func (talkative) FencingToken() (uint64, bool) { panic(errLeaky) }

// provoke drives every way to win, lose, fail and panic under the canary.
func provoke(t *testing.T, e *exits) {
	t.Helper()
	ctx, end := e.traced(t)
	defer end()
	panics := instrument.ClassifierFunc(func(error) (instrument.Reason, bool) { panic(canary) })
	e.m.Election("first") // takes the room where there is little
	for _, lock := range []*instrument.Election{
		e.m.Named(canary, instrument.Hold(), instrument.LeaseDuration(10*time.Second), instrument.Classify(panics)),
		e.m.Named(canary+"/run", instrument.LeaseDuration(10*time.Second), instrument.ExpectEvery(time.Minute),
			instrument.StopAtLeaseEnd()),
		e.m.Named(canary+"/kept", instrument.LeaseDuration(10*time.Second), instrument.KeepUntilExpiry()),
	} {
		e.handle(lock)
		attempts(t, e, ctx, lock)
		terms(t, e, ctx, lock)
		observed(e, lock)
	}
	e.m.Named(canary, instrument.MaxLeaders(2), instrument.Family("other")) // contradicts what is declared
	e.m.Named(canary + "/gone").Forget()
	e.own(ourErrors(t, e))
}

// attempts fail in each way. What comes back must be what the elector gave,
// not something that we made of it.
func attempts(t *testing.T, e *exits, ctx context.Context, lock *instrument.Election) {
	t.Helper()
	canceled, cancel := context.WithCancelCause(ctx)
	cancel(errLeaky)
	late, stop := context.WithTimeout(ctx, time.Millisecond)
	defer stop()
	for _, a := range []struct {
		ctx context.Context
		err error
	}{
		{ctx, errLeaky}, {ctx, instrument.ErrContended}, {canceled, context.Canceled}, {late, errLeaky},
	} {
		if _, err := lock.Acquire(a.ctx, electtest.Fails(a.err)); err != a.err { //nolint:errorlint // identity is the point
			t.Errorf("the elector's error came back as another: %v", err)
		}
	}
	for _, value := range []any{canary, errLeaky} {
		if got := recovered(func() { _, _ = lock.Acquire(ctx, electtest.NewElector(electtest.Step{Panic: value})) }); got != value {
			t.Errorf("the elector's panic came back as another: %v", got)
		}
	}
	_, err := lock.Acquire(ctx, electtest.Wins(nil))
	e.own([]error{err})
	a := lock.Begin(loud{ctx, canary})
	e.handle(a)
	a.NotAcquired(errLeaky)
	e.handle(a.Won(leaky{Name: canary}))
}

// terms end in each way.
func terms(t *testing.T, e *exits, ctx context.Context, lock *instrument.Election) {
	t.Helper()
	wins := func(l instrument.Lease) *instrument.Term {
		term, err := lock.Acquire(ctx, electtest.Wins(l))
		if err != nil {
			t.Fatal(err)
		}
		e.handle(term)
		return term
	}
	_ = wins(leaky{Name: canary, release: errLeaky}).Release(ctx)
	_ = wins(leaky{Name: canary, release: instrument.ErrSessionLost}).Release(ctx)
	renewed := wins(leaky{Name: canary, renew: errLeaky})
	if err := renewed.Renew(ctx); err != errLeaky { //nolint:errorlint // identity is the point
		t.Errorf("the renewal's error came back as another: %v", err)
	}
	time.Sleep(11 * time.Second) // past its lease
	_ = renewed.Release(ctx)
	refused := wins(leaky{Name: canary, renew: fmt.Errorf("%w: %w", instrument.ErrSessionLost, errLeaky)})
	_ = refused.Renew(ctx)
	e.own([]error{context.Cause(refused.Context())})
	_ = wins(talkative{leaky{Name: canary}}).Release(ctx)
	e.own([]error{wins(instrument.NewLease(nil)).Renew(ctx)})
	for _, watch := range []func(instrument.Sink){
		func(s instrument.Sink) { s.RenewalFailed(errLeaky); s.Lost(errLeaky) },
		func(s instrument.Sink) {
			s.Renewed(instrument.Renewal{Expiry: time.Now().Add(time.Second)})
			s.Lost(context.Canceled)
		},
		func(s instrument.Sink) { s.Lost(fmt.Errorf("%w: %w", instrument.ErrGaveUp, errLeaky)) },
		func(instrument.Sink) { panic(canary) },
	} {
		watched := wins(leaky{Name: canary, watch: watch})
		time.Sleep(time.Second)
		e.own([]error{context.Cause(watched.Context())})
		_ = watched.Release(ctx)
	}
	bodies(t, e, ctx, lock)
}

// bodies of guarded runs return and panic.
func bodies(t *testing.T, e *exits, ctx context.Context, lock *instrument.Election) {
	t.Helper()
	win := electtest.Wins(leaky{Name: canary})
	for _, body := range []func() error{func() error { return nil }, func() error { return errLeaky }} {
		want := body()
		if err := lock.Run(ctx, win, func(context.Context, *instrument.Term) error {
			time.Sleep(time.Second)
			e.goroutines(t)
			return body()
		}); err != want { //nolint:errorlint // identity is the point
			t.Errorf("the body's error came back as another: %v", err)
		}
	}
	if got := recovered(func() {
		_ = lock.Run(ctx, win, func(context.Context, *instrument.Term) error { panic(canary) })
	}); got != canary {
		t.Errorf("the body's panic came back as another: %v", got)
	}
	lost := make(chan struct{})
	_ = lock.Run(ctx, electtest.Wins(instrument.NewLease(nil, instrument.LostOn(lost))), func(ctx context.Context, _ *instrument.Term) error {
		close(lost)
		<-ctx.Done()
		time.Sleep(time.Second) // work after loss
		return errLeaky
	})
}

// observed electors tell the same.
func observed(e *exits, lock *instrument.Election) {
	lock.ObserveLeading(instrument.Leadership{Token: 7, Fenced: true, Expiry: time.Now().Add(time.Minute)})
	lock.ObserveUnknown(errLeaky)
	lock.ObserveNotLeading(errLeaky)
	lock.ObserveUnknown(errLeaky)
	lock.ObserveLeading(instrument.Leadership{Token: 3, Fenced: true})
	lock.ObserveNotLeading(instrument.ErrReleased)
	e.handle(lock)
}

func recovered(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

// withBaggage is a context that carries the name as applications do, which is
// no reason to hand it on.
func withBaggage(t *testing.T, ctx context.Context) context.Context {
	t.Helper()
	member, err := baggage.NewMemberRaw("lock", canary)
	if err != nil {
		t.Fatal(err)
	}
	b, err := baggage.New(member)
	if err != nil {
		t.Fatal(err)
	}
	type contextKey struct{}
	return context.WithValue(baggage.ContextWithBaggage(ctx, b), contextKey{}, canary)
}

var errExpected = errors.New("an error was expected here")
