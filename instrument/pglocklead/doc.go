// Package pglocklead makes the locks of cirello.io/pglock observable. Each becomes
// an [instrument.Acquirer]:
//
//	lock := pglocklead.NewLock(client, "report", 20*time.Second)
//	err := election.Run(ctx, lock, work)
//
// This package sends the holder's heartbeats, three per lease, in place of the
// client, which does not report a heartbeat that fails.
//
// How the table of locks is created, and what the data in it means, does not
// belong here.
package pglocklead
