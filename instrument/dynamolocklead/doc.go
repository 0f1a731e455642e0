// Package dynamolocklead makes the locks of cirello.io/dynamolock/v2 observable.
// Each becomes an [instrument.Acquirer]:
//
//	lock := dynamolocklead.NewLock(client, "report", 20*time.Second)
//	err := election.Run(ctx, lock, work)
//
// This package sends the holder's heartbeats, three per lease, in place of the
// client, which only logs a heartbeat that fails.
//
// How the table of locks is created, and what the data in it means, does not
// belong here.
package dynamolocklead
