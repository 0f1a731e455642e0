package grpcfence_test

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/fence"
	"github.com/leaderscope/leaderscope/instrument/fence/grpcfence"
)

// The store's server checks tokens, and the leader's client sends that of the
// context of each call: fence.WithTerm(ctx, term).
func Example() {
	m, err := instrument.New()
	if err != nil {
		panic(err)
	}
	defer m.Close()
	guard := fence.New(m.Election("ledger", instrument.WatchOnly()))
	open := grpcfence.Except("/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch")
	server := grpc.NewServer(
		grpc.ChainUnaryInterceptor(grpcfence.UnaryServerInterceptor(guard, open)),
		grpc.ChainStreamInterceptor(grpcfence.StreamServerInterceptor(guard, open)))
	defer server.Stop()

	conn, err := grpc.NewClient("dns:///ledger:443", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithChainUnaryInterceptor(grpcfence.UnaryClientInterceptor()),
		grpc.WithChainStreamInterceptor(grpcfence.StreamClientInterceptor()))
	if err != nil {
		panic(err)
	}
	defer conn.Close()
}
