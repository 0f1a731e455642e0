package main

import (
	"context"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/etcdlock"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func main() {}

func lead(ctx context.Context, e *instrument.Election, client *clientv3.Client, hostname string, work func(context.Context, *instrument.Term) error) error {
	return LINE
}
