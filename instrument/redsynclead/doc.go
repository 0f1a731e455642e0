// Package redsynclead makes the mutexes of go-redsync observable: NewMutex
// waits for its turn, NewTryMutex answers at once, and Mutex and TryMutex wrap a
// mutex that the program has made.
//
//	mutex := redsynclead.NewTryMutex(redsync.New(pool), "report", redsync.WithExpiry(30*time.Second), redsynclead.WithAutoRenew())
//	err := election.Run(ctx, mutex, body)
//
// The lease end is the mutex' own. A lock lives as long as its expiry:
// WithAutoRenew extends it while it is held, otherwise its holder does, by
// Term.Renew.
//
// What is done under the lock, and when to try again after an error, does not
// belong here.
package redsynclead
