package fencing

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/fence"
)

// The interceptors of docs/fencing.md.

func sendToken(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if token, ok := fence.TokenFrom(ctx); ok {
		ctx = metadata.AppendToOutgoingContext(ctx, fence.MetadataKey, fence.Format(token))
	}
	return invoke(ctx, method, req, reply, cc, opts...)
}

func checkToken(guard *fence.Guard) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (reply any, err error) {
		if token, ok := fence.Parse(metadata.ValueFromIncomingContext(ctx, fence.MetadataKey)); ok {
			ctx = fence.WithToken(ctx, token)
		}
		err = guard.DoContext(ctx, func(ctx context.Context) error {
			reply, err = handle(ctx, req)
			return err
		})
		if errors.Is(err, fence.ErrStale) || errors.Is(err, fence.ErrMissing) {
			err = status.Error(codes.FailedPrecondition, err.Error())
		}
		return reply, err
	}
}

func TestACallOverGRPCCarriesItsTokenAndAStaleOneIsRefused(t *testing.T) {
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(checkToken(fence.New(m.Election("ledger", instrument.WatchOnly())))))
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithUnaryInterceptor(sendToken))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	call := func(ctx context.Context) string {
		_, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
		return status.Code(err).String()
	}
	var got []string
	for _, token := range []uint64{3, 6, 3, 6} {
		got = append(got, call(fence.WithToken(t.Context(), token)))
	}
	got = append(got, call(t.Context()))
	if diff := cmp.Diff([]string{"OK", "OK", "FailedPrecondition", "OK", "FailedPrecondition"}, got); diff != "" {
		t.Error(diff)
	}
	want := electtest.Series{
		electtest.Of(catalog.FencingChecks, "admitted"): 3, electtest.Of(catalog.FencingChecks, "stale"): 1,
		electtest.Of(catalog.FencingChecks, "missing"): 1, electtest.Of(catalog.FencingHighestToken): 6,
	}
	if diff := cmp.Diff(want, electtest.Read(m, "ledger")); diff != "" {
		t.Error(diff)
	}
}
