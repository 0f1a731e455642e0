// Package raftlead makes the leadership of a hashicorp/raft node observable.
//
//	stop := raftlead.Observe(election, node)
//
// Raft elects by itself and cannot be wrapped; [Observe] reports what it does.
// It takes nothing away from the application: LeaderCh has one reader and one
// slot, and NotifyCh stops Raft when it is not read, so neither is touched.
package raftlead
