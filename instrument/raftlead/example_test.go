package raftlead_test

import (
	"log"

	"github.com/hashicorp/raft"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/raftlead"
)

// A store that raft replicates; its leadership shows beside the other locks.
func Example() {
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	var node *raft.Raft // as the program has made it
	if node == nil {
		return
	}
	leading := m.Election("store", instrument.Hold(), instrument.HiddenRenewals(), instrument.Backend("raft"))
	stop := raftlead.Observe(leading, node)
	defer stop()
}
