// Package record reads what a backend itself has of a lock, for tests that compare it
// with what electors and observers say.
package record

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/leaderscope/leaderscope/test/electors"
)

// Record is what a backend has of a lock.
type Record struct {
	Holder string // "": no live holder
	Term   string // changes with each term
	// Rest is how long the lease still runs; 0: the backend does not tell.
	Rest time.Duration
	// Spread is by how much less it may run.
	Spread time.Duration
}

// Replica begins the name of each replica: a value may be a random word and that name.
const Replica = "candidate-"

// Read asks a backend for the record of a lock.
type Read func(context.Context) (Record, error)

// Open opens a connection of its own that reads the record.
type Open func(addresses []string, lock string) (Read, func(), error)

// Etcd reads the first key below the lock. etcd tells whole seconds of
// what is left of a lease: the moment at which that number changes is exact.
func Etcd(addresses []string, lock string) (Read, func(), error) {
	c, err := clientv3.New(clientv3.Config{Endpoints: addresses, Logger: zap.NewNop(), DialTimeout: time.Second})
	if err != nil {
		return nil, nil, err
	}
	var lease, seconds int64
	var last time.Time
	look := func(ctx context.Context) (Record, error) {
		resp, err := c.Get(ctx, lock+"/", clientv3.WithFirstCreate()...)
		if err != nil || len(resp.Kvs) == 0 {
			return Record{}, err
		}
		kv := resp.Kvs[0]
		r := Record{Holder: string(kv.Value), Term: fmt.Sprint(kv.CreateRevision)}
		asked := time.Now()
		left, err := c.TimeToLive(ctx, clientv3.LeaseID(kv.Lease))
		if err != nil {
			return r, nil // the record is known, its rest is not
		}
		if lease == kv.Lease && left.TTL == seconds-1 && left.TTL > 0 {
			r.Rest, r.Spread = time.Duration(seconds)*time.Second, time.Since(last)
		}
		lease, seconds, last = kv.Lease, left.TTL, asked
		return r, nil
	}
	return look, func() { c.Close() }, nil
}

// Redis reads the key, whose value is a random token and the name of the
// holder.
func Redis(addresses []string, lock string) (Read, func(), error) {
	c := electors.RedisClient(addresses[0])
	look := func(ctx context.Context) (Record, error) {
		var value *redis.StringCmd
		var rest *redis.DurationCmd
		_, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error {
			value, rest = p.Get(ctx, lock), p.PTTL(ctx, lock)
			return nil
		})
		if errors.Is(err, redis.Nil) {
			return Record{}, nil
		}
		if err != nil {
			return Record{}, err
		}
		i := strings.Index(value.Val(), Replica)
		if i < 0 {
			return Record{}, fmt.Errorf("no holder in %q", value.Val())
		}
		return Record{Holder: value.Val()[i:], Term: value.Val(), Rest: max(rest.Val(), 0)}, nil
	}
	return look, func() { c.Close() }, nil
}

// Postgres reads which session holds the lock. A session may hold it
// more than once in its life.
func Postgres(addresses []string, lock string) (Read, func(), error) {
	const query = `SELECT a.application_name, a.pid FROM pg_locks l JOIN pg_stat_activity a USING (pid)
		WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
		AND l.objid::bigint = $1::bigint & 4294967295 AND l.classid::bigint = ($1::bigint >> 32) & 4294967295`
	var conn *pgx.Conn
	look := func(ctx context.Context) (r Record, err error) {
		if conn == nil || conn.IsClosed() {
			if conn, err = pgx.Connect(ctx, fmt.Sprintf(electors.PostgresDSN, addresses[0])); err != nil {
				return r, err
			}
		}
		var pid int
		err = conn.QueryRow(ctx, query, electors.PostgresKey(lock)).Scan(&r.Holder, &pid)
		if errors.Is(err, pgx.ErrNoRows) {
			return Record{}, nil
		}
		r.Term = fmt.Sprint(pid)
		return r, err
	}
	return look, func() {
		if conn != nil {
			_ = conn.Close(context.Background())
		}
	}, nil
}

// NATS reads the key, whose value is the name of the holder and a random
// word. The server ends a key when it is older than the lease.
func NATS(addresses []string, lock string) (Read, func(), error) {
	nc, err := nats.Connect("nats://"+addresses[0], nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		return nil, nil, err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, nc.Close, err
	}
	var kv jetstream.KeyValue
	look := func(ctx context.Context) (Record, error) {
		if kv == nil {
			bucket, err := js.KeyValue(ctx, electors.NATSBucket)
			if errors.Is(err, jetstream.ErrBucketNotFound) {
				return Record{}, nil // no candidate was there yet
			}
			if err != nil {
				return Record{}, err
			}
			kv = bucket
		}
		entry, err := kv.Get(ctx, lock)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			return Record{}, nil
		}
		if err != nil {
			return Record{}, err
		}
		holder, _, _ := strings.Cut(string(entry.Value()), " ")
		return Record{Holder: holder, Term: string(entry.Value()), Rest: max(time.Until(entry.Created().Add(electors.Lease)), 0)}, nil
	}
	return look, nc.Close, nil
}

// ZooKeeper reads the first node of the queue. The client waits a second
// before it connects again, and no call of it takes a context: after a look that
// failed the next has a client of its own.
func ZooKeeper(addresses []string, lock string) (Read, func(), error) {
	var conn *zk.Conn
	closing := func() {
		if conn != nil {
			conn.Close()
			conn = nil
		}
	}
	type answer struct {
		Record
		err error
	}
	look := func(ctx context.Context) (Record, error) {
		if conn == nil {
			var err error
			if conn, err = electors.ZooKeeperClient(addresses[0]); err != nil {
				return Record{}, err
			}
		}
		answers, asked := make(chan answer, 1), conn
		go func() {
			r, err := firstOnZooKeeper(asked, lock)
			answers <- answer{r, err}
		}()
		select {
		case a := <-answers:
			if a.err != nil && !errors.Is(a.err, errFirstChanged) {
				closing()
			}
			return a.Record, a.err
		case <-ctx.Done():
			closing()
			return Record{}, context.Cause(ctx)
		}
	}
	return look, closing, nil
}

var errFirstChanged = errors.New("the first has changed")

func firstOnZooKeeper(conn *zk.Conn, lock string) (Record, error) {
	node, err := electors.FirstOnZooKeeper(conn, lock)
	if errors.Is(err, zk.ErrNoNode) || err == nil && node == "" {
		return Record{}, nil
	}
	if err != nil {
		return Record{}, err
	}
	holder, _, err := conn.Get(node)
	if errors.Is(err, zk.ErrNoNode) { // gone in between
		return Record{}, errFirstChanged
	}
	return Record{Holder: string(holder), Term: node}, err
}

// Kubernetes reads the Lease as candidates do: it is held while its
// duration runs since it was last seen to change. They do not compare renewTime
// with their clocks, and see a change where its whole second is another.
func Kubernetes(addresses []string, lock string) (Read, func(), error) {
	config := electors.KubernetesConfig(addresses[0])
	config.QPS = -1 // unlimited
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	leases := clients.CoordinationV1().Leases(electors.KubernetesNamespace)
	var seen renewal
	look := func(ctx context.Context) (Record, error) {
		asked := time.Now()
		l, err := leases.Get(ctx, lock, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return Record{}, nil
		}
		if err != nil {
			return Record{}, err
		}
		s := l.Spec
		if s.HolderIdentity == nil || *s.HolderIdentity == "" || s.LeaseDurationSeconds == nil || s.LeaseTransitions == nil || s.RenewTime == nil {
			return Record{}, nil
		}
		seen.look(fmt.Sprint(l.UID, *s.HolderIdentity, *s.LeaseTransitions, s.RenewTime.Unix()), asked, time.Now())
		rest := time.Until(seen.by.Add(time.Duration(*s.LeaseDurationSeconds) * time.Second))
		if rest <= 0 {
			return Record{}, nil
		}
		return Record{Holder: *s.HolderIdentity, Term: fmt.Sprint(l.UID, *s.LeaseTransitions, s.AcquireTime), Rest: rest, Spread: seen.by.Sub(seen.after)}, nil
	}
	return look, func() {}, nil
}

// renewal is when a record that changes with each renewal was last renewed:
// after one instant and by another.
type renewal struct {
	version   string
	last      time.Time // when the last look was asked
	after, by time.Time
}

func (r *renewal) look(version string, asked, answered time.Time) {
	if version != r.version {
		r.version, r.after, r.by = version, r.last, answered
		if r.after.IsZero() {
			r.after = asked
		}
	}
	r.last = asked
}
