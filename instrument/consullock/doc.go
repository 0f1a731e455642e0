// Package consullock makes the locks and semaphores of Consul's API client
// observable. Each becomes an [instrument.Acquirer].
//
//	client, sessions, err := consullock.NewClient(api.DefaultConfig())
//	elector := consullock.NewLock(client, sessions, &api.LockOptions{Key: "reconciler/leader"})
//	err = election.Run(ctx, elector, work)
//
// The client renews a session in the background and discards the results. A
// client from [NewClient] passes them to [Sessions], which reads its HTTP
// traffic. The requests of the client are not changed.
//
// What leadership means to the application does not belong here.
package consullock
