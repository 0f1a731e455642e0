// Package zklock makes locks on ZooKeeper observable: each is an
// [instrument.Acquirer].
//
//	elector := zklock.NewElection(conn, &session, "/reconciler/leader", "replica-1", acl)
//	err := election.Run(ctx, elector, work)
//
// [NewElection] takes its place in the queue itself, in the layout of go-zookeeper's
// Lock and of Curator, and excludes both: that Lock takes no context, and
// believes that it won when its node is gone. [Lock] wraps one all the same.
//
// What leadership means to the application does not belong here.
package zklock
