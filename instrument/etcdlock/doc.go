// Package etcdlock makes the elections and mutexes of etcd's concurrency
// package observable. Each becomes an [instrument.Acquirer].
//
//	elector := etcdlock.NewElection(client, "/reconciler/leader", "replica-1", 15*time.Second)
//	err := election.Run(ctx, elector, work)
//
// [NewElection], [NewMutex] and [NewTryMutex] open a new session for every
// attempt, because an expired session cannot be renewed. They renew its lease
// themselves, one request at a time, because the lease end is known only if the
// time of the request is known. [Election], [Mutex] and [TryMutex] take a session
// that the caller owns and listen to its renewals.
//
// What leadership means to the application, and when to campaign again, does
// not belong here.
package etcdlock
