// Package zklock makes locks on ZooKeeper observable. Each becomes an
// [instrument.Acquirer].
//
//	elector := zklock.NewElection(conn, &session, "/reconciler/leader", "replica-1", acl)
//	err := election.Run(ctx, elector, work)
//
// [NewElection] queues by itself, in the layout of go-zookeeper's Lock and of
// Curator, and excludes both: that Lock takes no context, and reports a win if its
// node has been deleted. [Lock] can wrap one nevertheless.
//
// What leadership means to the application does not belong here.
package zklock
