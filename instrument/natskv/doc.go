// Package natskv elects a leader with a lease in a JetStream key-value bucket and
// makes it observable: the replica that creates the key leads, updates it by
// revision while it leads, and deletes it by revision when it stops. Each elector
// is an [instrument.Acquirer].
//
//	elector := natskv.NewElection(kv, "reconciler", "replica-1")
//	err := election.Run(ctx, elector, work)
//
// The length of the lease is the TTL of the bucket. The TTL of a single key is
// not suitable: the first update drops it, and the key then stays forever.
//
// What leadership means to the application, and when to campaign again, does
// not belong here.
package natskv
