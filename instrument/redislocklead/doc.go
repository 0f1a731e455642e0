// Package redislocklead makes the locks of bsm/redislock observable: NewLock
// waits for its turn, NewTryLock answers at once.
//
//	lock := redislocklead.NewLock(redislock.New(client), "report", 30*time.Second, redislocklead.WithAutoRenew())
//	err := election.Run(ctx, lock, body)
//
// The lease end counts from just before the request that won. A lock lives as
// long as its lease: WithAutoRenew renews it while it is held, otherwise its
// holder does, by Term.Renew.
//
// What is done under the lock, and when to try again after an error, does not
// belong here.
package redislocklead
