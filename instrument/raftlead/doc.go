// Package raftlead makes the leadership of a hashicorp/raft node observable.
//
//	stop := raftlead.Observe(election, node)
//
// Raft elects its leader itself, so there is no call to wrap; [Observe] reports
// the changes. LeaderCh and NotifyCh remain available to the application: the
// first has one reader and one slot, and the second stops Raft if it is not read.
package raftlead
