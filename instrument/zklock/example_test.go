package zklock_test

import (
	"context"
	"log"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/zklock"
)

// A service that leads for as long as it can, and campaigns again when its
// term has ended.
func Example() {
	var session zklock.Session
	const timeout = 10 * time.Second
	conn, _, err := zk.Connect([]string{"localhost:2181"}, timeout,
		zk.WithEventCallback(session.Event), zk.WithDialer(session.Dialer(nil)))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	elector := zklock.NewElection(conn, &session, "/reconciler/leader", "replica-1", zk.WorldACL(zk.PermAll))
	leading := m.Election("reconciler", instrument.Hold(), instrument.LeaseDuration(timeout), instrument.Backend("zookeeper"))
	for {
		err := leading.Run(context.Background(), elector, func(ctx context.Context, _ *instrument.Term) error {
			<-ctx.Done() // the work; it ends when the term does
			return nil
		})
		log.Println("term ended:", err)
		time.Sleep(time.Second) // or a backoff, while the backend is away
	}
}
