package grpcfence_test

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/fence"
	"github.com/leaderscope/leaderscope/instrument/fence/grpcfence"
)

const (
	appendMethod = "/ledger.Ledger/Append"
	streamMethod = "/ledger.Ledger/Stream"
)

// ledger is a service that owns a resource; what it wrote is in its log.
type ledger struct {
	conn *grpc.ClientConn
	m    *instrument.Middleware

	fails   error // of its handlers
	replies int   // how many follow each message of a stream
	began   chan struct{}

	mu  sync.Mutex
	log []string
}

func newLedger(t *testing.T, opts ...grpcfence.Option) *ledger {
	t.Helper()
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	l := &ledger{m: m, replies: 1}
	guard := fence.New(m.Election("tenant-secret", instrument.WatchOnly()))
	l.serve(t, grpc.ChainUnaryInterceptor(grpcfence.UnaryServerInterceptor(guard, opts...)), grpc.ChainStreamInterceptor(grpcfence.StreamServerInterceptor(guard, opts...)))
	return l
}

// serve runs the service and connects a client to it.
func (l *ledger) serve(t *testing.T, opts ...grpc.ServerOption) {
	t.Helper()
	ignored := goleak.IgnoreCurrent()
	listener := bufconn.Listen(1 << 20)
	server := grpc.NewServer(opts...)
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "ledger.Ledger", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Append", Handler: l.append}},
		Streams: []grpc.StreamDesc{{StreamName: "Stream", Handler: l.stream, ClientStreams: true, ServerStreams: true}},
	}, l)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	var err error
	l.conn, err = grpc.NewClient("passthrough:///ledger", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithUnaryInterceptor(grpcfence.UnaryClientInterceptor()), grpc.WithStreamInterceptor(grpcfence.StreamClientInterceptor()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = l.conn.Close()
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		goleak.VerifyNone(t, ignored)
	})
}

// write is one entry, under the token that the handler finds.
func (l *ledger) write(ctx context.Context, entry string) {
	word := "none"
	if token, ok := fence.TokenFrom(ctx); ok {
		word = fence.Format(token)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.log = append(l.log, word+" "+entry)
}

func (l *ledger) append(_ any, ctx context.Context, decode func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
	entry := &wrapperspb.StringValue{}
	if err := decode(entry); err != nil {
		return nil, err
	}
	handle := func(ctx context.Context, _ any) (any, error) {
		if l.fails == nil {
			l.write(ctx, entry.Value)
		}
		return entry, l.fails
	}
	if intercept == nil {
		return handle(ctx, entry)
	}
	return intercept(ctx, entry, &grpc.UnaryServerInfo{FullMethod: appendMethod}, handle)
}

// stream writes each message and answers it.
func (l *ledger) stream(_ any, ss grpc.ServerStream) error {
	for {
		entry := &wrapperspb.StringValue{}
		if err := ss.RecvMsg(entry); errors.Is(err, io.EOF) {
			return l.fails
		} else if err != nil {
			return err
		}
		l.write(ss.Context(), entry.Value)
		if l.began != nil {
			l.began <- struct{}{}
		}
		for range l.replies {
			if err := ss.SendMsg(entry); err != nil {
				return err
			}
		}
	}
}

// call appends an entry and returns the answer in words.
func (l *ledger) call(ctx context.Context) string {
	return answer(l.conn.Invoke(ctx, appendMethod, wrapperspb.String("entry"), &wrapperspb.StringValue{}))
}

func (l *ledger) open(t *testing.T, ctx context.Context) grpc.ClientStream {
	t.Helper()
	s, err := l.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, streamMethod)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// streamed sends one entry in a stream of its own.
func (l *ledger) streamed(t *testing.T, ctx context.Context) string {
	t.Helper()
	s := l.open(t, ctx)
	_ = s.SendMsg(wrapperspb.String("entry")) // a refusal is received
	_ = s.CloseSend()
	return answer(drained(s))
}

// drained receives until the stream ends.
func drained(s grpc.ClientStream) error {
	for {
		if err := s.RecvMsg(&wrapperspb.StringValue{}); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func answer(err error) string {
	s := status.Convert(err)
	if s.Message() == "" {
		return s.Code().String()
	}
	return s.Code().String() + " " + s.Message()
}

func (l *ledger) wrote(t *testing.T, want ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if diff := cmp.Diff(want, slices.Clone(l.log)); diff != "" {
		t.Error(diff)
	}
}

func (l *ledger) shows(t *testing.T, admitted, stale, missing int, highest ...float64) {
	t.Helper()
	want := electtest.Series{
		electtest.Of(catalog.FencingChecks, "admitted"): float64(admitted),
		electtest.Of(catalog.FencingChecks, "stale"):    float64(stale),
		electtest.Of(catalog.FencingChecks, "missing"):  float64(missing),
	}
	for _, h := range highest {
		want[electtest.Of(catalog.FencingHighestToken)] = h
	}
	if diff := cmp.Diff(want, electtest.Read(l.m, "tenant-secret")); diff != "" {
		t.Error(diff)
	}
}
