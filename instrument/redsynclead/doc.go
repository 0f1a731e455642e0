// Package redsynclead makes the mutexes of go-redsync observable: NewMutex
// waits for the lock, NewTryMutex answers at once, and Mutex and TryMutex wrap a
// mutex that the program has created.
//
//	mutex := redsynclead.NewTryMutex(redsync.New(pool), "report", redsync.WithExpiry(30*time.Second), redsynclead.WithAutoRenew())
//	err := election.Run(ctx, mutex, body)
//
// The lease end is the mutex's own. A lock lives as long as its expiry:
// WithAutoRenew extends it while it is held, otherwise its holder calls
// Term.Renew.
//
// What is done under the lock, and when to try again after an error, does not
// belong here.
package redsynclead
