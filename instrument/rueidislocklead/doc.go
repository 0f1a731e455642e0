// Package rueidislocklead makes the locks of rueidislock observable: NewLock
// waits for its turn, NewTryLock answers at once.
//
//	lock := rueidislocklead.NewLock(locker, "report")
//	err := election.Run(ctx, lock, body)
//
// The library renews its locks where it cannot be seen, and tells when one is
// lost: the lease end is unknown, and there are no renewal series.
//
// What is done under the lock, and when to try again after an error, does not
// belong here.
package rueidislocklead
