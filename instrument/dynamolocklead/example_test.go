package dynamolocklead_test

import (
	"context"
	"log"
	"time"

	"cirello.io/dynamolock/v2"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/dynamolocklead"
)

// A service that leads for as long as it can, and waits for its turn again
// when its term has ended.
func Example() {
	db := dynamodb.New(dynamodb.Options{Region: "eu-central-1"}) // of a program: dynamodb.NewFromConfig
	const lease = 20 * time.Second
	client, err := dynamolock.New(db, "locks", dynamolock.WithLeaseDuration(lease), dynamolock.DisableHeartbeat())
	if err != nil {
		log.Fatal(err)
	}
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	leading := m.Election("reconciler", instrument.Hold(), instrument.Backend("dynamodb"))
	lock := dynamolocklead.NewLock(client, "reconciler", lease)
	for {
		err := leading.Run(context.Background(), lock, func(ctx context.Context, _ *instrument.Term) error {
			<-ctx.Done() // the work; it ends when the term does
			return nil
		})
		log.Println("term ended:", err)
		time.Sleep(time.Second) // or a backoff, while DynamoDB is away
	}
}

// A job that one replica runs; the others leave it out.
func ExampleNewTryLock() {
	client, reports := setUp()
	lock := dynamolocklead.NewTryLock(client, "reports", 20*time.Second) // kept, so that it notices a holder that died
	for range time.Tick(time.Hour) {
		err := reports.Run(context.Background(), lock, func(context.Context, *instrument.Term) error {
			log.Println("writing reports")
			return nil
		})
		if err != nil {
			log.Println("no reports here:", err)
		}
	}
}

func setUp() (*dynamolock.Client, *instrument.Election) { return nil, nil }
