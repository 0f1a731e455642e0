// Package grpcfence carries fencing tokens in gRPC metadata: the client's
// interceptors send the token of the caller's term, the server's refuse calls
// whose token is stale.
//
//	conn, err := grpc.NewClient(target, grpc.WithUnaryInterceptor(grpcfence.UnaryClientInterceptor())) // the leader
//	server := grpc.NewServer(grpc.UnaryInterceptor(grpcfence.UnaryServerInterceptor(guard)))           // the store
//
// It is a module of its own, so that only its users link gRPC. What a guard
// decides is in package fence.
package grpcfence

import (
	"context"
	"errors"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/leaderscope/leaderscope/instrument/fence"
)

// UnaryClientInterceptor sends the token of a call's context under
// [fence.MetadataKey]; see fence.WithTerm. A call whose context has none goes
// out as it is.
func UnaryClientInterceptor() grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		return invoke(outgoing(ctx), method, req, reply, cc, opts...)
	}
}

// StreamClientInterceptor is UnaryClientInterceptor for streams: a stream
// carries the token of the context with which it was opened.
func StreamClientInterceptor() grpc.StreamClientInterceptor {
	return func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
		return open(outgoing(ctx), desc, cc, method, opts...)
	}
}

// outgoing replaces a token that was set by hand: two would be none.
func outgoing(ctx context.Context) context.Context {
	token, ok := fence.TokenFrom(ctx)
	if !ok {
		return ctx
	}
	md, ok := metadata.FromOutgoingContext(ctx) // a copy
	if !ok {
		md = metadata.MD{}
	}
	md.Set(fence.MetadataKey, fence.Format(token))
	return metadata.NewOutgoingContext(ctx, md)
}

// Option configures the server's interceptors. Nil options are ignored.
type Option func(*server)

// AllowMissing lets calls without a token through, for the time in which
// clients begin to send one. They are counted as missing.
func AllowMissing() Option { return func(s *server) { s.allowMissing = true } }

// Except lets calls of these methods through without a look at their token,
// such as "/grpc.health.v1.Health/Check": reads, health checks, reflection. All
// other methods are guarded, also those of a name that is misspelled here.
func Except(methods ...string) Option {
	return func(s *server) { s.except = append(s.except, methods...) }
}

// UnaryServerInterceptor passes calls on while their token is admitted, within
// guard.Do: a call of a newer term begins when those of older terms have
// returned, whose contexts end then. A stale call is answered with
// codes.Aborted and one without a token with codes.FailedPrecondition, or
// passed on with AllowMissing. The text of the answer has the tokens and no
// name of a lock. The handler finds the token by fence.TokenFrom. A
// fence.ErrStale or fence.ErrMissing that the handler returns, from a guard in
// its database, is answered in the same way; its other errors pass unchanged.
//
// A nil guard passes every call on.
func UnaryServerInterceptor(guard *fence.Guard, opts ...Option) grpc.UnaryServerInterceptor {
	s := newServer(guard, opts)
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (reply any, err error) {
		if s.passes(info.FullMethod) {
			return handle(ctx, req)
		}
		err = s.call(ctx, func(ctx context.Context) error {
			reply, err = handle(ctx, req)
			return err
		})
		return reply, err
	}
}

// StreamServerInterceptor is UnaryServerInterceptor for streams. A stream is one
// call: its token is checked when it opens, and a newer term ends its context
// and what it receives and sends, so that a client that is suspended in the
// middle of a stream does not hold its successor back. After such an error the
// handler must return, and leave the message alone.
func StreamServerInterceptor(guard *fence.Guard, opts ...Option) grpc.StreamServerInterceptor {
	s := newServer(guard, opts)
	return func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
		if s.passes(info.FullMethod) {
			return handle(srv, ss)
		}
		return s.call(ss.Context(), func(ctx context.Context) error {
			return handle(srv, &stream{ss, ctx})
		})
	}
}

type server struct {
	guard        *fence.Guard
	allowMissing bool
	except       []string
}

func newServer(guard *fence.Guard, opts []Option) *server {
	s := &server{guard: guard}
	for _, o := range opts {
		if o != nil {
			o(s)
		}
	}
	return s
}

// passes reports a method that is not guarded.
func (s *server) passes(method string) bool {
	return s.guard == nil || slices.Contains(s.except, method)
}

// call runs a handler if the token is admitted.
func (s *server) call(ctx context.Context, handle func(context.Context) error) error {
	ctx = fence.Received(ctx, metadata.ValueFromIncomingContext(ctx, fence.MetadataKey))
	began := false
	err := s.guard.DoContext(ctx, func(ctx context.Context) error {
		began = true
		return handle(ctx)
	})
	if !began && s.allowMissing && errors.Is(err, fence.ErrMissing) {
		began = true
		err = handle(ctx)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fence.ErrStale):
		return status.Error(codes.Aborted, err.Error())
	case errors.Is(err, fence.ErrMissing):
		return status.Error(codes.FailedPrecondition, "no fencing token: send the token of the term in one "+fence.MetadataKey+" of the metadata, in decimal digits")
	case began:
		return err
	default: // the client is gone, or its time is over
		return status.FromContextError(ctx.Err()).Err()
	}
}

// stream is a stream whose calls end with ctx.
type stream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s *stream) Context() context.Context { return s.ctx }

func (s *stream) RecvMsg(m any) error {
	return s.untilOver(func() error { return s.ServerStream.RecvMsg(m) })
}

func (s *stream) SendMsg(m any) error {
	return s.untilOver(func() error { return s.ServerStream.SendMsg(m) })
}

// untilOver runs f, or leaves it behind when the context ends: it then ends with
// the stream, right after the handler.
func (s *stream) untilOver(f func() error) error {
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
}
