// Package redislocklead makes the locks of bsm/redislock observable: NewLock
// waits for the lock, NewTryLock answers at once.
//
//	lock := redislocklead.NewLock(redislock.New(client), "report", 30*time.Second, redislocklead.WithAutoRenew())
//	err := election.Run(ctx, lock, body)
//
// The lease end counts from just before the winning request. A lock lives as
// long as its lease: WithAutoRenew renews it while it is held, otherwise its
// holder calls Term.Renew.
//
// What is done under the lock, and when to try again after an error, does not
// belong here.
package redislocklead
