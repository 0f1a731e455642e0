package instrument_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestNilPassesEverythingThroughAndRecordsNothing(t *testing.T) {
	var m *instrument.Middleware
	e := m.Election("x", instrument.Hold())
	if e != nil || m.Named("y") != nil {
		t.Fatal("a nil middleware has handles")
	}
	released := 0
	lease := instrument.NewLease(func(context.Context) error { released++; return nil },
		instrument.RenewWith(func(context.Context) error { return errBackend }), instrument.Token(7))
	term := acquire(t, e, electtest.Wins(lease))
	if err := term.Renew(context.Background()); !errors.Is(err, errBackend) {
		t.Errorf("renew: %v", err)
	}
	if token, ok := term.FencingToken(); token != 7 || !ok || term.Unwrap() != lease {
		t.Errorf("token %v, %v", token, ok)
	}
	ctx := term.Context()
	release(t, term)
	if released != 1 || !errors.Is(context.Cause(ctx), instrument.ErrReleased) {
		t.Errorf("released %d times, context %v", released, context.Cause(ctx))
	}
	ran := false
	err := e.Run(context.Background(), electtest.Wins(lease), func(context.Context, *instrument.Term) error { ran = true; return nil })
	if err != nil || !ran || released != 2 {
		t.Errorf("run: %v, ran %v, released %d", err, ran, released)
	}
	if _, err := e.Acquire(context.Background(), electtest.Fails(errBackend)); !errors.Is(err, errBackend) {
		t.Errorf("acquire: %v", err)
	}
	at := e.Begin(context.Background())
	release(t, at.Won(lease))
	e.ObserveLeading(instrument.Leadership{Fenced: true, Token: 3})
	e.ObserveNotLeading(nil)
	e.ObserveUnknown(errBackend)
	e.ObserveBackend(instrument.BackendView{State: instrument.BackendHeld, Holder: "a"})
	e.Identify("a")()
	m.BackendReachable("etcd")
	m.BackendUnreachable("etcd")
	e.Forget()
	if e.Leading() || e.Label() != "" {
		t.Error("a nil election knows something")
	}
	if _, ok := e.Expiry(); ok {
		t.Error("a nil election has an end")
	}
	m.Collect(func(*instrument.Sample) { t.Error("a nil middleware has series") })
	m.Attach(func(string) instrument.Observer { t.Error("a nil middleware makes observers"); return nil })()
	if m.Close() != nil || m.Faults() != 0 || m.Collisions() != 0 || m.MaxLabels() != 0 || m.Exports(catalog.Active) {
		t.Error("a nil middleware counts something")
	}

	var noTerm *instrument.Term
	var noAttempt *instrument.Attempt
	noAttempt.NotAcquired(errBackend)
	noAttempt.Panicked()
	release(t, noAttempt.Won(lease))
	if err := noTerm.Renew(context.Background()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("renew of no term: %v", err)
	}
	var noContext context.Context
	if err := noTerm.Work(noContext, func(ctx context.Context, got *instrument.Term) error {
		if ctx == nil || got != nil {
			t.Errorf("the body got %v, %v", ctx, got)
		}
		return errBackend
	}); !errors.Is(err, errBackend) {
		t.Errorf("work of no term: %v", err)
	}
	if noTerm.Context().Err() != nil || noTerm.Leading() || noTerm.Unwrap() != nil || noTerm.Release(context.Background()) != nil {
		t.Error("no term knows something")
	}
	if token, ok := noTerm.FencingToken(); token != 0 || ok {
		t.Errorf("no term has token %v, %v", token, ok)
	}
	if end, ok := noTerm.Expiry(); !end.IsZero() || ok {
		t.Errorf("no term has an end: %v, %v", end, ok)
	}
	var nowhere instrument.Sink
	for _, k := range []instrument.Sink{nowhere, noTerm.Sink()} {
		k.Renewed(instrument.Renewal{})
		k.RenewalFailed(errBackend)
		k.RenewalFailedSince(time.Now(), nil)
		k.Lost(nil)
	}
	for _, v := range []any{m, e, noTerm, noAttempt} {
		if text := fmt.Sprintf("%v %+v %#v %s", v, v, v, v); len(text) == 0 {
			t.Errorf("%T is printed as %q", v, text)
		}
	}
}
