// Package rueidislocklead makes the locks of rueidislock observable: NewLock
// waits for the lock, NewTryLock answers at once.
//
//	lock := rueidislocklead.NewLock(locker, "report")
//	err := election.Run(ctx, lock, body)
//
// The library does not expose its renewals, and reports the loss of a lock: the
// lease end is unknown, and there are no renewal series.
//
// What is done under the lock, and when to try again after an error, does not
// belong here.
package rueidislocklead
