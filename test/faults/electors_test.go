//go:build integration

package faults

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"time"

	"cirello.io/dynamolock/v2"
	"cirello.io/pglock"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/dynamolocklead"
	"github.com/leaderscope/leaderscope/instrument/pglocklead"
	"github.com/leaderscope/leaderscope/instrument/redsynclead"
	"github.com/leaderscope/leaderscope/instrument/rueidislocklead"
	"github.com/leaderscope/leaderscope/test/electors"
)

const lease = electors.Lease

// elector is a way to lead, as a user would write it.
type elector struct {
	name   string // of the row in the table
	module string
	style  string
	server string
	note   string // for the page

	lease time.Duration // 0: there is none
	// waits and renews describe Acquire to the conformance suite.
	waits, renews bool
	demand        bool // the holder may renew as well
	fenced        bool
	options       []instrument.ElectionOption
	// slow is a latency just under what a renewal may take.
	slow time.Duration
	// bound says that the lock lives and dies with its connection.
	bound bool
	// hidden says that the library renews a lease whose end is known to it alone;
	// within is how long a loss may go unnoticed.
	hidden bool
	within time.Duration
	// careless says that a leader which wakes up after its lease releases that of
	// its successor.
	careless bool

	// connect returns an elector of this lock, and how to let go of the server.
	connect electors.Connect
	// drop has the server drop the lock; as its other electors do if not set.
	drop func(ctx context.Context, address, lock string) error
	// campaign leads until ctx is done, for electors that are no Acquirer.
	campaign func(ctx context.Context, r electors.Replica, e *instrument.Election, work func(context.Context)) error
	// works says that what the leader does is work of the term, where campaign
	// could leave that out.
	works bool
	// body is what the leader does; waits for the end of the term if not set.
	body func(context.Context, *instrument.Term) error
}

// table is in the order of the page.
var table = []elector{
	{
		name: "client-go leaderelection", module: "instrument/k8slease", style: "campaign with callbacks", server: "kube-apiserver",
		lease: lease, waits: true, renews: true, fenced: true, slow: time.Second,
		options:  []instrument.ElectionOption{instrument.Hold(), instrument.Backend("kubernetes")},
		campaign: electors.KubernetesLease, works: true, careless: true,
		note: "with `ReleaseOnCancel` a leader that resumes after its lease end releases the lease without checking who holds it by then. This frees the lease of its successor, and two replicas may lead until the successor renews.",
	},
	{
		name: "controller-runtime manager", module: "instrument/ctrllease", style: "campaign in a framework", server: "kube-apiserver",
		lease: lease, waits: true, renews: true, fenced: true, slow: time.Second,
		options:  []instrument.ElectionOption{instrument.Hold(), instrument.Backend("kubernetes")},
		campaign: electors.KubernetesManager, works: true, careless: true,
		note: "see client-go leaderelection.",
	},
	{
		name: "etcd concurrency.Election", module: "instrument/etcdlock", style: "campaign and hold", server: "etcd",
		lease: lease, waits: true, renews: true, fenced: true, slow: time.Second,
		options: []instrument.ElectionOption{instrument.Hold(), instrument.LeaseDuration(lease), instrument.Backend("etcd")},
		connect: electors.EtcdElection,
	},
	{
		name: "etcd concurrency.Mutex", module: "instrument/etcdlock", style: "lock", server: "etcd",
		lease: lease, waits: true, renews: true, fenced: true, slow: time.Second,
		options: []instrument.ElectionOption{instrument.LeaseDuration(lease), instrument.Backend("etcd")},
		connect: electors.EtcdMutex,
	},
	{
		name: "NATS JetStream key-value", module: "instrument/natskv", style: "campaign and hold", server: "nats",
		lease: lease, waits: true, renews: true, fenced: true, slow: time.Second,
		options: []instrument.ElectionOption{instrument.Hold(), instrument.LeaseDuration(lease), instrument.Backend("nats")},
		connect: electors.NATSKeyValue,
	},
	{
		name: "bsm/redislock", module: "instrument/redislocklead", style: "lock, renewed by the adapter", server: "redis",
		lease: lease, waits: true, renews: true, demand: true, slow: time.Second,
		options: []instrument.ElectionOption{instrument.Backend("redis")},
		connect: electors.RedisLock,
	},
	{
		name: "go-redsync/redsync", module: "instrument/redsynclead", style: "lock, renewed by the caller", server: "redis",
		lease: lease, slow: time.Second,
		options: []instrument.ElectionOption{instrument.Backend("redis")},
		connect: redsyncMutex, body: renewing,
	},
	{
		name: "rueidislock", module: "instrument/rueidislocklead", style: "lock, renewed by the library", server: "redis",
		hidden: true, within: lease, slow: 500 * time.Millisecond,
		options: []instrument.ElectionOption{instrument.Backend("redis")},
		connect: rueidisLock,
		note:    "the library retries a failed backend for ever without reporting an error, so the attempt stays pending. Without `NoLoopTracking` it renews without a pause, and latency costs it the lease.",
	},
	{
		name: "go-zookeeper", module: "instrument/zklock", style: "campaign and hold", server: "zookeeper",
		lease: lease, waits: true, renews: true, fenced: true, slow: time.Second,
		options: []instrument.ElectionOption{instrument.Hold(), instrument.LeaseDuration(lease), instrument.Backend("zookeeper")},
		connect: electors.ZooKeeper,
		note:    "a session can outlive its lease end if its server was unavailable in between; `leader_active` is 0 until the first answer.",
	},
	{
		name: "dynamolock", module: "instrument/dynamolocklead", style: "lock", server: "dynalite",
		lease: lease, waits: true, renews: true, demand: true, slow: 500 * time.Millisecond,
		options: []instrument.ElectionOption{instrument.Hold(), instrument.Backend("dynamodb")},
		connect: dynamoLock,
		note:    "tested against an emulator of DynamoDB.",
	},
	{
		name: "pglock", module: "instrument/pglocklead", style: "lock", server: "postgres",
		lease: lease, waits: true, renews: true, demand: true, fenced: true,
		slow:    300 * time.Millisecond, // a renewal is three requests
		options: []instrument.ElectionOption{instrument.Hold(), instrument.Backend("postgres")},
		connect: pgLock, drop: deletePgLock,
		note: "a waiting candidate checks once per lease, so a lock that was released may stay free for that long; the holder gives up when one heartbeat fails.",
	},
	{
		name: "PostgreSQL advisory lock", module: "instrument/sqllock", style: "lock", server: "postgres",
		waits: true, bound: true, slow: time.Second,
		options: []instrument.ElectionOption{instrument.Hold(), instrument.Backend("postgres")},
		note:    "the lock is bound to its connection and has no lease. A holder notices a broken connection at its next check, and two replicas may show as leaders until then.",
		connect: electors.Postgres,
	},
	{
		name: "MariaDB GET_LOCK", module: "instrument/sqllock", style: "lock", server: "mariadb",
		waits: true, bound: true, slow: time.Second,
		options: []instrument.ElectionOption{instrument.Hold(), instrument.Backend("mariadb")},
		note:    "see PostgreSQL advisory lock.",
		connect: electors.MariaDB,
	},
}

func redsyncMutex(_ context.Context, r electors.Replica) (instrument.Acquirer, func(), error) {
	client := electors.RedisClient(r.Address)
	return redsynclead.NewTryMutex(redsync.New(goredis.NewPool(client)), r.Lock, redsync.WithExpiry(lease)), func() { client.Close() }, nil
}

func rueidisLock(_ context.Context, r electors.Replica) (instrument.Acquirer, func(), error) {
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: []string{r.Address}},
		KeyMajority:  1, KeyValidity: lease, ExtendInterval: lease / 4, TryNextAfter: time.Second,
		NoLoopTracking: true,
	})
	if err != nil {
		return nil, nil, err
	}
	return rueidislocklead.NewTryLock(locker, r.Lock), locker.Close, nil
}

const dynamoTable = "locks"

func dynamoDB(address string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "local", BaseEndpoint: aws.String("http://" + address), RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
		HTTPClient:  &http.Client{Timeout: 1500 * time.Millisecond},
	})
}

func dynamoLock(ctx context.Context, r electors.Replica) (instrument.Acquirer, func(), error) {
	db := dynamoDB(r.Address)
	client, err := dynamolock.New(db, dynamoTable, dynamolock.WithLeaseDuration(lease), dynamolock.DisableHeartbeat(),
		dynamolock.WithOwnerName(fmt.Sprint(r.ID, time.Now().UnixNano())))
	if err != nil {
		return nil, nil, err
	}
	_, _ = client.CreateTable(dynamoTable, dynamolock.WithProvisionedThroughput(&types.ProvisionedThroughput{
		ReadCapacityUnits: aws.Int64(5), WriteCapacityUnits: aws.Int64(5),
	})) // another may have made it
	out, err := db.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(dynamoTable)})
	if err == nil && out.Table.TableStatus != types.TableStatusActive {
		err = fmt.Errorf("table is %s", out.Table.TableStatus)
	}
	if err != nil {
		return nil, nil, err
	}
	return dynamolocklead.NewLock(client, r.Lock, lease), func() {}, nil
}

func pgLock(_ context.Context, r electors.Replica) (instrument.Acquirer, func(), error) {
	db, err := sql.Open("pgx", fmt.Sprintf(electors.PostgresDSN, r.Address))
	if err != nil {
		return nil, nil, err
	}
	closing := func() { db.Close() }
	client, err := pglock.UnsafeNew(db, pglock.WithLeaseDuration(lease), pglock.WithHeartbeatFrequency(0), pglock.WithOwner(r.ID))
	if err == nil {
		err = client.TryCreateTable() // of several at once only one succeeds
	}
	if err != nil {
		return nil, closing, err
	}
	return pglocklead.NewLock(client, r.Lock, lease), closing, nil
}

// renewing renews three times per lease, as the user of a lock that does not
// renew itself must, and stops when the lease cannot be saved.
func renewing(ctx context.Context, term *instrument.Term) error {
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lease / 4):
		}
		asked := time.Now()
		asking, cancel := context.WithTimeout(ctx, lease/2)
		err := term.Renew(asking)
		cancel()
		switch {
		case err == nil:
			last = asked
		case time.Since(last) > lease:
			return errors.Join(errors.New("lease is over"), err)
		}
	}
}

// lead campaigns until ctx is done.
func (e elector) lead(ctx context.Context, r electors.Replica, election *instrument.Election) error {
	if e.campaign != nil {
		return e.campaign(ctx, r, election, func(ctx context.Context) { <-ctx.Done() })
	}
	body := e.body
	if body == nil {
		body = func(ctx context.Context, _ *instrument.Term) error {
			<-ctx.Done()
			return nil
		}
	}
	return electors.Lead(ctx, e.connect, r, func(ctx context.Context, a instrument.Acquirer) error { return election.Run(ctx, a, body) })
}

func find(name string) (elector, error) {
	for _, e := range table {
		if e.name == name {
			return e, nil
		}
	}
	return elector{}, fmt.Errorf("no elector %q", name)
}
