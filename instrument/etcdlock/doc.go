// Package etcdlock makes the elections and mutexes of etcd's concurrency
// package observable: each is an [instrument.Acquirer].
//
//	elector := etcdlock.NewElection(client, "/reconciler/leader", "replica-1", 15*time.Second)
//	err := election.Run(ctx, elector, work)
//
// [NewElection], [NewMutex] and [NewTryMutex] open a fresh session for every
// attempt, because a session that has lapsed never comes back, and renew its
// lease themselves, one request at a time, because the lease end is only
// known by who knows when the request was sent. [Election], [Mutex] and
// [TryMutex] take a session that the caller owns, and listen to its renewals.
//
// What leadership means to the application, and when to campaign again, does
// not belong here.
package etcdlock
