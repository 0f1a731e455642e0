package etcdlock_test

import (
	"context"
	"log"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/etcdlock"
)

// A service that leads for as long as it can, and campaigns again when its
// term has ended.
func Example() {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"localhost:2379"}})
	if err != nil {
		log.Fatal(err)
	}
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	const lease = 15 * time.Second
	elector := etcdlock.NewElection(client, "/reconciler/leader", "replica-1", lease)
	leading := m.Election("reconciler", instrument.Hold(), instrument.LeaseDuration(lease), instrument.Backend("etcd"))
	for {
		err := leading.Run(context.Background(), elector, func(ctx context.Context, _ *instrument.Term) error {
			<-ctx.Done() // the work; it ends when the term does
			return nil
		})
		log.Println("term ended:", err)
		time.Sleep(time.Second) // or a backoff, while the backend is away
	}
}

// A job that one replica runs at a time; the others skip it.
func ExampleNewTryMutex() {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"localhost:2379"}})
	if err != nil {
		log.Fatal(err)
	}
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	report := m.Election("nightly-report", instrument.ExpectEvery(24*time.Hour), instrument.Backend("etcd"))
	err = report.Run(context.Background(), etcdlock.NewTryMutex(client, "/nightly-report", time.Minute),
		func(context.Context, *instrument.Term) error { return nil })
	if err != nil {
		log.Println("not this time:", err)
	}
}

// A session that the program has already; its renewals are listened to.
func ExampleElection() {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"localhost:2379"}})
	if err != nil {
		log.Fatal(err)
	}
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	session, err := concurrency.NewSession(client, concurrency.WithTTL(15))
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	elector := etcdlock.Election(session, concurrency.NewElection(session, "/reconciler/leader"), "replica-1")
	term, err := m.Election("reconciler", instrument.Hold()).Acquire(context.Background(), elector)
	if err != nil {
		log.Fatal(err)
	}
	defer term.Release(context.Background())
}
