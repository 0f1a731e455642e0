package consullock_test

import (
	"context"
	"log"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/consullock"
)

// A service that leads for as long as it can, and campaigns again when its
// term has ended.
func Example() {
	client, sessions, err := consullock.NewClient(api.DefaultConfig())
	if err != nil {
		log.Fatal(err)
	}
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	elector := consullock.NewLock(client, sessions, &api.LockOptions{Key: "reconciler/leader", SessionTTL: "15s"})
	leading := m.Election("reconciler", instrument.Hold(), instrument.LeaseDuration(15*time.Second), instrument.Backend("consul"))
	for {
		err := leading.Run(context.Background(), elector, func(ctx context.Context, _ *instrument.Term) error {
			<-ctx.Done() // the work; it ends when the term does
			return nil
		})
		log.Println("term ended:", err)
		time.Sleep(time.Second) // or a backoff, while the backend is away
	}
}

// Three at a time may rebuild an index.
func ExampleNewSemaphore() {
	client, sessions, err := consullock.NewClient(api.DefaultConfig())
	if err != nil {
		log.Fatal(err)
	}
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	slot := consullock.NewSemaphore(client, sessions, &api.SemaphoreOptions{Prefix: "rebuild", Limit: 3})
	rebuild := m.Election("rebuild", instrument.MaxLeaders(3), instrument.Backend("consul"))
	err = rebuild.Run(context.Background(), slot, func(context.Context, *instrument.Term) error { return nil })
	if err != nil {
		log.Println("not this time:", err)
	}
}
