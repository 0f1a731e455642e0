package main

import (
	"context"

	"github.com/go-zookeeper/zk"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/zklock"
)

func main() {}

func lead(ctx context.Context, e *instrument.Election, conn *zk.Conn, session *zklock.Session, hostname string, work func(context.Context, *instrument.Term) error) error {
	return LINE
}
