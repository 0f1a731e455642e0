// Package dynamolocklead makes locks of cirello.io/dynamolock/v2 observable.
// Each is an [instrument.Acquirer]:
//
//	lock := dynamolocklead.NewLock(client, "report", 20*time.Second)
//	err := election.Run(ctx, lock, work)
//
// The holder's heartbeats are sent here, three times per lease, and not by the
// client, which only logs those that fail.
//
// How the table of locks is made, and what the data in it means, does not
// belong here.
package dynamolocklead
