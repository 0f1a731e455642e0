package grpcfence_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/fence"
	"github.com/leaderscope/leaderscope/instrument/fence/grpcfence"
)

const (
	stale3  = "Aborted leaderscope: fencing token 3 is stale, the store has seen 6; stop the work of this term and campaign again"
	missing = "FailedPrecondition no fencing token: send the token of the term in one x-fencing-token of the metadata, in decimal digits"
)

// byHand is a call whose caller sets the metadata itself.
func byHand(ctx context.Context, values ...string) context.Context {
	for _, v := range values {
		ctx = metadata.AppendToOutgoingContext(ctx, "X-Fencing-Token", v)
	}
	return ctx
}

func TestACallCarriesTheTokenOfItsTermAndAStaleOneIsRefused(t *testing.T) {
	for _, way := range []string{"call", "stream"} {
		t.Run(way, func(t *testing.T) {
			l := newLedger(t)
			term := func(token uint64) context.Context { return fence.WithToken(t.Context(), token) }
			for i, c := range []struct {
				ctx  context.Context
				want string
			}{
				{term(3), "OK"},
				{term(6), "OK"},
				{term(3), stale3},
				{t.Context(), missing},
				{byHand(t.Context(), "six"), missing},
				{byHand(t.Context(), ""), missing},
				{byHand(t.Context(), "-6"), missing},
				{byHand(t.Context(), "+6"), missing},
				{byHand(t.Context(), "6, 7"), missing},
				{byHand(t.Context(), "18446744073709551616"), missing}, // 2^64 would turn to 0
				{byHand(t.Context(), "6", "7"), missing},               // which of them is meant?
				{byHand(t.Context(), "6", "6"), missing},
				{byHand(t.Context(), "3"), stale3},
				{byHand(term(6), "9"), "OK"}, // the term's own token, not one that was set by hand
				{byHand(term(3), "9"), stale3},
				{metadata.AppendToOutgoingContext(term(6), "other", "kept"), "OK"},
			} {
				got := ""
				if way == "call" {
					got = l.call(c.ctx)
				} else {
					got = l.streamed(t, c.ctx)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("call %d: %s", i, diff)
				}
			}
			l.wrote(t, "3 entry", "6 entry", "6 entry", "6 entry")
			l.shows(t, 4, 3, 9, 6)
		})
	}
}

func TestTokensBeyond2To53AreNumbersToTheLast(t *testing.T) {
	l := newLedger(t)
	var got []string
	for _, token := range []uint64{1<<53 + 1, 1 << 53, 1<<64 - 1, 1<<64 - 2, 1<<63 - 1, 1<<64 - 1} {
		got = append(got, strings.Fields(l.call(fence.WithToken(t.Context(), token)))[0])
	}
	if diff := cmp.Diff([]string{"OK", "Aborted", "OK", "Aborted", "Aborted", "OK"}, got); diff != "" {
		t.Error(diff)
	}
	l.wrote(t, "9007199254740993 entry", "18446744073709551615 entry", "18446744073709551615 entry")
}

func TestCallsWithoutATokenPassWhileClientsLearnToSendOne(t *testing.T) {
	l := newLedger(t, grpcfence.AllowMissing(), nil)
	got := []string{l.call(byHand(t.Context(), "6")), l.call(t.Context()), l.streamed(t, t.Context()), l.call(byHand(t.Context(), "3")), l.streamed(t, byHand(t.Context(), "3"))}
	if diff := cmp.Diff([]string{"OK", "OK", "OK", stale3, stale3}, got); diff != "" {
		t.Error(diff)
	}
	l.wrote(t, "6 entry", "none entry", "none entry")
	l.shows(t, 1, 2, 2, 6)
}

func TestMethodsThatAreExceptedNeedNoTokenAndOthersDo(t *testing.T) {
	l := newLedger(t, grpcfence.Except(streamMethod), grpcfence.Except("/ledger.Ledger/append"))
	got := []string{l.call(byHand(t.Context(), "6")), l.streamed(t, t.Context()), l.streamed(t, byHand(t.Context(), "3")), l.call(t.Context()), l.call(byHand(t.Context(), "3"))}
	if diff := cmp.Diff([]string{"OK", "OK", "OK", missing, stale3}, got); diff != "" {
		t.Error(diff)
	}
	l.shows(t, 1, 1, 1, 6)
}

func TestWithoutAGuardEveryCallPasses(t *testing.T) {
	l := &ledger{replies: 1}
	l.serve(t, grpc.UnaryInterceptor(grpcfence.UnaryServerInterceptor(nil)), grpc.StreamInterceptor(grpcfence.StreamServerInterceptor(nil)))
	got := []string{l.call(byHand(t.Context(), "6")), l.call(byHand(t.Context(), "3")), l.streamed(t, t.Context())}
	if diff := cmp.Diff([]string{"OK", "OK", "OK"}, got); diff != "" {
		t.Error(diff)
	}
}

// The store's server runs under a term of its own, whose context reaches the
// interceptor.
// What a handler returns reaches the client, whether the call was guarded or not.
func TestAHandlersReplyAndErrorAreTheClients(t *testing.T) {
	broken := errors.New("broken")
	with := metadata.NewIncomingContext(t.Context(), metadata.Pairs("x-fencing-token", "3"))
	for name, c := range map[string]struct {
		guard *fence.Guard
		ctx   context.Context
		opts  []grpcfence.Option
	}{
		"guarded":         {fence.New(nil), with, nil},
		"no guard":        {nil, t.Context(), nil},
		"excepted":        {fence.New(nil), t.Context(), []grpcfence.Option{grpcfence.Except("/a/B")}},
		"allowed to miss": {fence.New(nil), t.Context(), []grpcfence.Option{grpcfence.AllowMissing()}},
	} {
		t.Run(name, func(t *testing.T) {
			reply, err := grpcfence.UnaryServerInterceptor(c.guard, c.opts...)(c.ctx, "request", &grpc.UnaryServerInfo{FullMethod: "/a/B"},
				func(_ context.Context, request any) (any, error) { return fmt.Sprint("reply to ", request), broken })
			if reply != "reply to request" || err != broken {
				t.Errorf("%v, %v", reply, err)
			}
			ss := &recorded{ctx: c.ctx, fails: broken}
			err = grpcfence.StreamServerInterceptor(c.guard, c.opts...)("server", ss, &grpc.StreamServerInfo{FullMethod: "/a/B"},
				func(srv any, ss grpc.ServerStream) error {
					return errors.Join(ss.RecvMsg("in"), ss.SendMsg(srv))
				})
			if want := errors.Join(broken, broken); fmt.Sprint(err) != want.Error() {
				t.Errorf("%v, want %v", err, want)
			}
			if want := []any{"received", "in", "sent", "server"}; !slices.Equal(ss.calls, want) {
				t.Errorf("%v, want %v", ss.calls, want)
			}
		})
	}
}

// recorded is a stream on which each call fails.
type recorded struct {
	grpc.ServerStream
	ctx   context.Context
	fails error
	calls []any
}

func (r *recorded) Context() context.Context { return r.ctx }
func (r *recorded) RecvMsg(m any) error {
	r.calls = append(r.calls, "received", m)
	return r.fails
}
func (r *recorded) SendMsg(m any) error {
	r.calls = append(r.calls, "sent", m)
	return r.fails
}

func TestTheTokenOfTheStoresOwnProcessDoesNotStandInForThatOfTheCaller(t *testing.T) {
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	l := &ledger{m: m, replies: 1}
	guard := fence.New(m.Election("tenant-secret", instrument.WatchOnly()))
	l.serve(t, grpc.ChainUnaryInterceptor(
		func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
			return handle(fence.WithToken(ctx, 9), req)
		}, grpcfence.UnaryServerInterceptor(guard)))
	got := []string{l.call(byHand(t.Context(), "6")), l.call(byHand(t.Context(), "3")), l.call(t.Context()), l.call(byHand(t.Context(), "-6"))}
	if diff := cmp.Diff([]string{"OK", stale3, missing, missing}, got); diff != "" {
		t.Error(diff)
	}
	l.wrote(t, "6 entry")
	l.shows(t, 1, 1, 2, 6)
}

// The leader was suspended in the middle of a stream: it neither sends nor, with
// many replies, makes room for them.
func TestAStreamOfASuspendedLeaderDoesNotHoldTheSuccessorBack(t *testing.T) {
	for name, replies := range map[string]int{"it does not send": 0, "it does not receive": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			l := newLedger(t)
			l.replies, l.began = replies, make(chan struct{})
			older := l.open(t, fence.WithToken(t.Context(), 3))
			if err := older.SendMsg(wrapperspb.String("first")); err != nil {
				t.Fatal(err)
			}
			<-l.began
			if got := l.call(fence.WithToken(t.Context(), 6)); got != "OK" {
				t.Errorf("the successor: %s", got)
			}
			_ = older.SendMsg(wrapperspb.String("late"))
			if got := answer(drained(older)); got != stale3 {
				t.Errorf("the older: %s", got)
			}
			l.wrote(t, "3 first", "6 entry")
			l.shows(t, 2, 0, 0, 6)
		})
	}
}

// blocked is a stream of a client that is suspended.
type blocked struct {
	grpc.ServerStream
	ctx   context.Context
	calls atomic.Int64
}

func (b *blocked) Context() context.Context { return b.ctx }
func (b *blocked) SendMsg(any) error        { return b.RecvMsg(nil) }
func (b *blocked) RecvMsg(any) error {
	b.calls.Add(1)
	<-b.ctx.Done()
	return b.ctx.Err()
}

// gRPC allows one receiver and one sender at a time: one that was left behind
// may be there still.
func TestAStreamThatIsOverReceivesAndSendsNothingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guard := fence.New(nil)
		ctx, cancel := context.WithCancel(metadata.NewIncomingContext(t.Context(), metadata.Pairs("x-fencing-token", "3")))
		defer cancel()
		ss := &blocked{ctx: ctx}
		err := grpcfence.StreamServerInterceptor(guard)(nil, ss, &grpc.StreamServerInfo{}, func(_ any, ss grpc.ServerStream) error {
			_ = guard.Check(6)
			synctest.Wait()
			return errors.Join(ss.RecvMsg(nil), ss.RecvMsg(nil), ss.SendMsg(nil))
		})
		synctest.Wait()
		if !strings.HasPrefix(answer(err), stale3) || ss.calls.Load() != 0 {
			t.Errorf("%v, after %d calls", err, ss.calls.Load())
		}
	})
}

// A guard in the handler's database, and other errors.
func TestErrorsOfAHandlerAreAnsweredByWhatTheyAre(t *testing.T) {
	for _, c := range []struct {
		fails error
		want  string
	}{
		{fmt.Errorf("append: %w", &fence.StaleError{Token: 3, Highest: 6}), "Aborted append: " + strings.TrimPrefix(stale3, "Aborted ")},
		{fence.ErrMissing, missing},
		{status.Error(codes.ResourceExhausted, "full"), "ResourceExhausted full"},
		{errors.New("broken"), "Unknown broken"},
		{context.Canceled, "Canceled context canceled"},
	} {
		t.Run(c.want, func(t *testing.T) {
			l := newLedger(t)
			l.fails = c.fails
			ctx := fence.WithToken(t.Context(), 3)
			for _, got := range []string{l.call(ctx), l.streamed(t, ctx)} {
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Error(diff)
				}
			}
			l.shows(t, 2, 0, 0, 3)
		})
	}
}

func TestACallThatGivesUpBeforeOlderOnesHaveEndedIsNotRun(t *testing.T) {
	guard := fence.New(nil)
	intercept := grpcfence.UnaryServerInterceptor(guard)
	incoming := func(ctx context.Context, token string) context.Context {
		return metadata.NewIncomingContext(ctx, metadata.Pairs("x-fencing-token", token))
	}
	began, end, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		_, err := intercept(incoming(t.Context(), "3"), nil, &grpc.UnaryServerInfo{}, func(context.Context, any) (any, error) {
			close(began)
			<-end // it does not look at its context
			return nil, nil
		})
		ended <- err
	}()
	<-began
	short, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := intercept(incoming(short, "6"), nil, &grpc.UnaryServerInfo{}, func(context.Context, any) (any, error) {
		t.Error("it ran beside the older one")
		return nil, nil
	})
	if got := answer(err); got != "Canceled context canceled" {
		t.Error(got)
	}
	close(end)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// 64 callers, half of them with streams: what is stored never goes back.
func TestOf64CallersNoLateOneReachesTheStore(t *testing.T) {
	const callers, turns = 64, 5
	l := newLedger(t)
	var term, admitted, refused atomic.Int64
	var group sync.WaitGroup
	for caller := range callers {
		group.Go(func() {
			for range turns {
				ctx := fence.WithToken(t.Context(), 1<<62+uint64(term.Add(1)))
				got := ""
				if caller%2 == 0 {
					got = l.call(ctx)
				} else {
					got = l.streamed(t, ctx)
				}
				switch word, _, _ := strings.Cut(got, " "); word {
				case "OK":
					admitted.Add(1)
				case "Aborted":
					refused.Add(1)
				default:
					t.Error(got)
				}
			}
		})
	}
	group.Wait()
	if !slices.IsSorted(l.log) || admitted.Load()+refused.Load() != callers*turns || int64(len(l.log)) < admitted.Load() {
		t.Errorf("%d admitted, %d refused, %d stored: %v", admitted.Load(), refused.Load(), len(l.log), l.log)
	}
}

func TestTheCallersMetadataIsNotChanged(t *testing.T) {
	before := metadata.Pairs("x-fencing-token", "9", "other", "kept")
	ctx := metadata.NewOutgoingContext(fence.WithToken(t.Context(), 3), before)
	var sent metadata.MD
	err := grpcfence.UnaryClientInterceptor()(ctx, appendMethod, nil, nil, nil, func(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
		sent, _ = metadata.FromOutgoingContext(ctx)
		return nil
	})
	if diff := cmp.Diff(metadata.Pairs("x-fencing-token", "3", "other", "kept"), sent); diff != "" || err != nil {
		t.Error(diff, err)
	}
	after, _ := metadata.FromOutgoingContext(ctx)
	if diff := cmp.Diff(metadata.Pairs("x-fencing-token", "9", "other", "kept"), after); diff != "" {
		t.Error(diff)
	}
}
