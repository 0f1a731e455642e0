// Package consullock makes the locks and semaphores of Consul's API client
// observable: each is an [instrument.Acquirer].
//
//	client, sessions, err := consullock.NewClient(api.DefaultConfig())
//	elector := consullock.NewLock(client, sessions, &api.LockOptions{Key: "reconciler/leader"})
//	err = election.Run(ctx, elector, work)
//
// The client renews a session in the background and drops what becomes of it;
// a client made by [NewClient] shows it to [Sessions], which reads along. What
// the client sends stays as it is.
//
// What leadership means to the application does not belong here.
package consullock
