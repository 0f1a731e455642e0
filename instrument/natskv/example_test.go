package natskv_test

import (
	"context"
	"log"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/natskv"
)

// A service that leads for as long as it can, and campaigns again when its
// term has ended.
func Example() {
	nc, err := nats.Connect(nats.DefaultURL)
	if err != nil {
		log.Fatal(err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		log.Fatal(err)
	}
	const lease = 15 * time.Second
	kv, err := js.CreateOrUpdateKeyValue(context.Background(), jetstream.KeyValueConfig{Bucket: "leases", TTL: lease})
	if err != nil {
		log.Fatal(err)
	}
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	leading := m.Election("reconciler", instrument.Hold(), instrument.LeaseDuration(lease), instrument.Backend("nats"))
	for {
		err := leading.Run(context.Background(), natskv.NewElection(kv, "reconciler", "replica-1"),
			func(ctx context.Context, _ *instrument.Term) error {
				<-ctx.Done() // the work; it ends when the term does
				return nil
			})
		log.Println("term ended:", err)
		time.Sleep(time.Second) // or a backoff, while the backend is away
	}
}
