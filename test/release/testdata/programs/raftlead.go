package main

import (
	"github.com/hashicorp/raft"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/raftlead"
)

func main() {}

func observe(e *instrument.Election, node *raft.Raft) (stop func()) {
	return LINE
}
