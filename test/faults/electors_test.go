//go:build integration

package faults

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"net/http"
	"testing"
	"time"

	"cirello.io/dynamolock/v2"
	"cirello.io/pglock"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/bsm/redislock"
	"github.com/go-logr/logr"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	_ "github.com/go-sql-driver/mysql"
	"github.com/go-zookeeper/zk"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/ctrllease"
	"github.com/leaderscope/leaderscope/instrument/dynamolocklead"
	"github.com/leaderscope/leaderscope/instrument/etcdlock"
	"github.com/leaderscope/leaderscope/instrument/k8slease"
	"github.com/leaderscope/leaderscope/instrument/natskv"
	"github.com/leaderscope/leaderscope/instrument/pglocklead"
	"github.com/leaderscope/leaderscope/instrument/redislocklead"
	"github.com/leaderscope/leaderscope/instrument/redsynclead"
	"github.com/leaderscope/leaderscope/instrument/rueidislocklead"
	"github.com/leaderscope/leaderscope/instrument/sqllock"
	"github.com/leaderscope/leaderscope/instrument/zklock"
	"github.com/leaderscope/leaderscope/test/server"
)

// lease is short enough for a test and long enough for a loaded machine.
const lease = 4 * time.Second

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
	// careless says that a leader which wakes up after its lease gives away
	// that of the next.
	careless bool

	// connect returns an elector of this lock, and how to let go of the server.
	connect func(ctx context.Context, address, lock, id string) (instrument.Acquirer, func(), error)
	// drop has the server drop the lock; as its other electors do if not set.
	drop func(t testing.TB, address, lock string) error
	// campaign leads until ctx is done, for electors that are no Acquirer.
	campaign func(ctx context.Context, address, lock, id string, e *instrument.Election, work func(context.Context)) error
	// works says that what the leader does is work of the term, where campaign
	// could leave that out.
	works bool
	// body is what the leader does; waits for the end of the term if not set.
	body func(context.Context, *instrument.Term) error
}

// electors are in the order of the table.
var electors = []elector{
	{
		name: "client-go leaderelection", module: "instrument/k8slease", style: "campaign with callbacks", server: "kube-apiserver",
		lease: lease, waits: true, renews: true, fenced: true, slow: time.Second,
		options:  []instrument.ElectionOption{instrument.Hold(), instrument.Backend("kubernetes")},
		campaign: kubernetesLease, works: true, careless: true,
		note: "with `ReleaseOnCancel` a leader that wakes up after its lease releases without a look at whose it is by then: it gives the lease of the next away, and two may lead until that one renews.",
	},
	{
		name: "controller-runtime manager", module: "instrument/ctrllease", style: "campaign in a framework", server: "kube-apiserver",
		lease: lease, waits: true, renews: true, fenced: true, slow: time.Second,
		options:  []instrument.ElectionOption{instrument.Hold(), instrument.Backend("kubernetes")},
		campaign: kubernetesManager, works: true, careless: true,
		note: "as client-go's.",
	},
	{
		name: "etcd concurrency.Election", module: "instrument/etcdlock", style: "campaign and hold", server: "etcd",
		lease: lease, waits: true, renews: true, fenced: true, slow: time.Second,
		options: []instrument.ElectionOption{instrument.Hold(), instrument.LeaseDuration(lease), instrument.Backend("etcd")},
		connect: etcd(etcdElection),
	},
	{
		name: "etcd concurrency.Mutex", module: "instrument/etcdlock", style: "lock", server: "etcd",
		lease: lease, waits: true, renews: true, fenced: true, slow: time.Second,
		options: []instrument.ElectionOption{instrument.LeaseDuration(lease), instrument.Backend("etcd")},
		connect: etcd(etcdlock.NewMutex),
	},
	{
		name: "NATS JetStream key-value", module: "instrument/natskv", style: "campaign and hold", server: "nats",
		lease: lease, waits: true, renews: true, fenced: true, slow: time.Second,
		options: []instrument.ElectionOption{instrument.Hold(), instrument.LeaseDuration(lease), instrument.Backend("nats")},
		connect: natsKeyValue,
	},
	{
		name: "bsm/redislock", module: "instrument/redislocklead", style: "lock, renewed by the adapter", server: "redis",
		lease: lease, waits: true, renews: true, demand: true, slow: time.Second,
		options: []instrument.ElectionOption{instrument.Backend("redis")},
		connect: redisLock,
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
		note:    "the library retries a failed backend for ever without a word: the attempt stays pending.",
	},
	{
		name: "go-zookeeper", module: "instrument/zklock", style: "campaign and hold", server: "zookeeper",
		lease: lease, waits: true, renews: true, fenced: true, slow: time.Second,
		options: []instrument.ElectionOption{instrument.Hold(), instrument.LeaseDuration(lease), instrument.Backend("zookeeper")},
		connect: zooKeeper,
		note:    "a session outlives its lease end when its server was away meanwhile; `leader_active` is 0 until the first answer.",
	},
	{
		name: "dynamolock", module: "instrument/dynamolocklead", style: "lock", server: "dynalite",
		lease: lease, waits: true, renews: true, demand: true, slow: 500 * time.Millisecond,
		options: []instrument.ElectionOption{instrument.Hold(), instrument.Backend("dynamodb")},
		connect: dynamoLock,
		note:    "tested against an emulator.",
	},
	{
		name: "pglock", module: "instrument/pglocklead", style: "lock", server: "postgres",
		lease: lease, waits: true, renews: true, demand: true, fenced: true,
		slow:    300 * time.Millisecond, // a renewal is three requests
		options: []instrument.ElectionOption{instrument.Hold(), instrument.Backend("postgres")},
		connect: pgLock, drop: deletePgLock,
		note: "the library looks once per lease, so that a lock which was given back may stay free for as long; it gives a lock up when one of its heartbeats fails.",
	},
	{
		name: "PostgreSQL advisory lock", module: "instrument/sqllock", style: "lock", server: "postgres",
		waits: true, bound: true, slow: time.Second,
		options: []instrument.ElectionOption{instrument.Hold(), instrument.Backend("postgres")},
		note:    "the lock lives with its connection and has no lease: a holder learns of a broken connection at its next check, and two may show until then.",
		connect: advisory("pgx", postgresDSN, func(lock string) sqllock.Lock { return sqllock.Postgres(postgresKey(lock)) }),
	},
	{
		name: "MariaDB GET_LOCK", module: "instrument/sqllock", style: "lock", server: "mariadb",
		waits: true, bound: true, slow: time.Second,
		options: []instrument.ElectionOption{instrument.Hold(), instrument.Backend("mariadb")},
		note:    "as PostgreSQL's.",
		connect: advisory("mysql", mariaDSN, sqllock.MariaDB),
	},
}

func kubernetesConfig(address string) *rest.Config {
	return &rest.Config{
		Host: "https://" + address, BearerToken: server.KubernetesToken,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true}, Timeout: 1500 * time.Millisecond,
	}
}

func kubernetesLock(address, lock, id string) (resourcelock.Interface, error) {
	clients, err := kubernetes.NewForConfig(kubernetesConfig(address))
	if err != nil {
		return nil, err
	}
	return &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: "default", Name: lock}, Client: clients.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: id},
	}, nil
}

const (
	renewDeadline = lease * 3 / 4
	retryPeriod   = lease / 8
)

// kubernetesLease is a replica that campaigns again whenever its elector has
// stopped.
func kubernetesLease(ctx context.Context, address, lock, id string, e *instrument.Election, work func(context.Context)) error {
	l, err := kubernetesLock(address, lock, id)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		elector, err := leaderelection.NewLeaderElector(k8slease.Instrument(leaderelection.LeaderElectionConfig{
			Lock: l, LeaseDuration: lease, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod, ReleaseOnCancel: true, Name: lock,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: work,
				OnStoppedLeading: func() {},
			},
		}, e))
		if err != nil {
			return err
		}
		elector.Run(ctx)
	}
	return nil
}

// kubernetesManager starts another manager whenever one has ended, as a
// container does that is restarted.
func kubernetesManager(ctx context.Context, address, lock, id string, e *instrument.Election, work func(context.Context)) error {
	duration, deadline, period := lease, renewDeadline, retryPeriod
	for ctx.Err() == nil {
		m, err := ctrllease.NewManager(kubernetesConfig(address), manager.Options{
			Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"},
			LeaderElection: true, LeaderElectionNamespace: "default", LeaderElectionID: lock,
			LeaderElectionReleaseOnCancel: true, LeaseDuration: &duration, RenewDeadline: &deadline, RetryPeriod: &period,
		}, e)
		if err == nil {
			err = m.Add(manager.RunnableFunc(func(ctx context.Context) error { work(ctx); return nil }))
		}
		if err == nil {
			err = m.Start(ctx)
		}
		if err != nil {
			log.Printf("%s: %v", id, err)
			time.Sleep(100 * time.Millisecond)
		}
	}
	return nil
}

func etcdElection(c *clientv3.Client, lock string, ttl time.Duration) instrument.Acquirer {
	return etcdlock.NewElection(c, lock, "replica", ttl)
}

type connector = func(ctx context.Context, address, lock, id string) (instrument.Acquirer, func(), error)

func etcd(make func(*clientv3.Client, string, time.Duration) instrument.Acquirer) connector {
	return func(_ context.Context, address, lock, _ string) (instrument.Acquirer, func(), error) {
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{address}, Logger: zap.NewNop()})
		if err != nil {
			return nil, nil, err
		}
		return make(c, lock, lease), func() { c.Close() }, nil
	}
}

func natsKeyValue(ctx context.Context, address, lock, id string) (instrument.Acquirer, func(), error) {
	nc, err := nats.Connect("nats://"+address, nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))
	if err != nil {
		return nil, nil, err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, nc.Close, err
	}
	kv, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "leases", TTL: lease, Storage: jetstream.FileStorage})
	if err != nil {
		return nil, nc.Close, err
	}
	return natskv.NewElection(kv, lock, id), nc.Close, nil
}

// redisClient gives up on a request well within the lease.
func redisClient(address string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: address, DialTimeout: time.Second, ReadTimeout: 1500 * time.Millisecond, WriteTimeout: time.Second, MaxRetries: -1,
	})
}

func redisLock(_ context.Context, address, lock, _ string) (instrument.Acquirer, func(), error) {
	client := redisClient(address)
	return redislocklead.NewLock(redislock.New(client), lock, lease, redislocklead.WithAutoRenew()), func() { client.Close() }, nil
}

func redsyncMutex(_ context.Context, address, lock, _ string) (instrument.Acquirer, func(), error) {
	client := redisClient(address)
	return redsynclead.NewTryMutex(redsync.New(goredis.NewPool(client)), lock, redsync.WithExpiry(lease)), func() { client.Close() }, nil
}

func rueidisLock(_ context.Context, address, lock, _ string) (instrument.Acquirer, func(), error) {
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: []string{address}},
		KeyMajority:  1, KeyValidity: lease, ExtendInterval: lease / 4, TryNextAfter: time.Second,
	})
	if err != nil {
		return nil, nil, err
	}
	return rueidislocklead.NewTryLock(locker, lock), locker.Close, nil
}

func zooKeeper(_ context.Context, address, lock, id string) (instrument.Acquirer, func(), error) {
	session := new(zklock.Session)
	conn, _, err := zk.Connect([]string{address}, lease, zk.WithLogInfo(false), zk.WithLogger(log.New(io.Discard, "", 0)),
		zk.WithEventCallback(session.Event), zk.WithDialer(session.Dialer(nil)))
	if err != nil {
		return nil, nil, err
	}
	return zklock.NewElection(conn, session, "/leaderscope/"+lock, id, zk.WorldACL(zk.PermAll)), conn.Close, nil
}

const dynamoTable = "locks"

func dynamoDB(address string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "local", BaseEndpoint: aws.String("http://" + address), RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
		HTTPClient:  &http.Client{Timeout: 1500 * time.Millisecond},
	})
}

func dynamoLock(ctx context.Context, address, lock, id string) (instrument.Acquirer, func(), error) {
	db := dynamoDB(address)
	client, err := dynamolock.New(db, dynamoTable, dynamolock.WithLeaseDuration(lease), dynamolock.DisableHeartbeat(),
		dynamolock.WithOwnerName(fmt.Sprint(id, time.Now().UnixNano())))
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
	return dynamolocklead.NewLock(client, lock, lease), func() {}, nil
}

func pgLock(_ context.Context, address, lock, id string) (instrument.Acquirer, func(), error) {
	db, err := sql.Open("pgx", fmt.Sprintf(postgresDSN, address))
	if err != nil {
		return nil, nil, err
	}
	closing := func() { db.Close() }
	client, err := pglock.UnsafeNew(db, pglock.WithLeaseDuration(lease), pglock.WithHeartbeatFrequency(0), pglock.WithOwner(id))
	if err == nil {
		err = client.TryCreateTable() // of several at once only one succeeds
	}
	if err != nil {
		return nil, closing, err
	}
	return pglocklead.NewLock(client, lock, lease), closing, nil
}

// What the drivers take; %s is the address.
const (
	postgresDSN = "postgres://postgres@%s/postgres?connect_timeout=2"
	mariaDSN    = "root@tcp(%s)/?timeout=2s"
)

// postgresKey is a lock's number.
func postgresKey(lock string) int64 {
	h := fnv.New64a()
	h.Write([]byte(lock))
	return int64(h.Sum64())
}

// advisory checks its connection every half second.
func advisory(driver, dsn string, of func(string) sqllock.Lock) connector {
	return func(_ context.Context, address, lock, _ string) (instrument.Acquirer, func(), error) {
		db, err := openForgetful(driver, fmt.Sprintf(dsn, address))
		if err != nil {
			return nil, nil, err
		}
		return sqllock.NewLock(db, of(lock), 500*time.Millisecond), func() { db.Close() }, nil
	}
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
func (e elector) lead(ctx context.Context, address, lock, id string, election *instrument.Election) error {
	if e.campaign != nil {
		return e.campaign(ctx, address, lock, id, election, func(ctx context.Context) { <-ctx.Done() })
	}
	a, closing, err := e.connected(ctx, address, lock, id)
	if err != nil {
		return err
	}
	defer closing()
	body := e.body
	if body == nil {
		body = func(ctx context.Context, _ *instrument.Term) error {
			<-ctx.Done()
			return nil
		}
	}
	for ctx.Err() == nil {
		if err := election.Run(ctx, a, body); err != nil && ctx.Err() == nil {
			log.Printf("%s: %v", id, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}

// connected tries until the server is there.
func (e elector) connected(ctx context.Context, address, lock, id string) (instrument.Acquirer, func(), error) {
	for {
		a, closing, err := e.connect(ctx, address, lock, id)
		if err == nil {
			return a, closing, nil
		}
		if closing != nil {
			closing()
		}
		select {
		case <-ctx.Done():
			return nil, nil, err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func find(name string) (elector, error) {
	for _, e := range electors {
		if e.name == name {
			return e, nil
		}
	}
	return elector{}, fmt.Errorf("no elector %q", name)
}
