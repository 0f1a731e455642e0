package main

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

// refereeEtcd reads the first key below the lock. etcd tells whole seconds of
// what is left of a lease: the moment at which that number changes is exact.
func refereeEtcd(addresses []string, lock string) (read, func(), error) {
	c, err := clientv3.New(clientv3.Config{Endpoints: addresses, Logger: zap.NewNop(), DialTimeout: time.Second})
	if err != nil {
		return nil, nil, err
	}
	var lease, seconds int64
	var last time.Time
	look := func(ctx context.Context) (record, error) {
		resp, err := c.Get(ctx, lock+"/", clientv3.WithFirstCreate()...)
		if err != nil || len(resp.Kvs) == 0 {
			return record{}, err
		}
		kv := resp.Kvs[0]
		r := record{holder: string(kv.Value), term: fmt.Sprint(kv.CreateRevision)}
		asked := time.Now()
		left, err := c.TimeToLive(ctx, clientv3.LeaseID(kv.Lease))
		if err != nil {
			return r, nil // the record is known, its rest is not
		}
		if lease == kv.Lease && left.TTL == seconds-1 && left.TTL > 0 {
			r.rest, r.spread = time.Duration(seconds)*time.Second, time.Since(last)
		}
		lease, seconds, last = kv.Lease, left.TTL, asked
		return r, nil
	}
	return look, func() { c.Close() }, nil
}

// refereeRedis reads the key, whose value is a random token and the name of the
// holder.
func refereeRedis(addresses []string, lock string) (read, func(), error) {
	c := electors.RedisClient(addresses[0])
	look := func(ctx context.Context) (record, error) {
		var value *redis.StringCmd
		var rest *redis.DurationCmd
		_, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error {
			value, rest = p.Get(ctx, lock), p.PTTL(ctx, lock)
			return nil
		})
		if errors.Is(err, redis.Nil) {
			return record{}, nil
		}
		if err != nil {
			return record{}, err
		}
		i := strings.Index(value.Val(), candidatePrefix)
		if i < 0 {
			return record{}, fmt.Errorf("no holder in %q", value.Val())
		}
		return record{holder: value.Val()[i:], term: value.Val(), rest: max(rest.Val(), 0)}, nil
	}
	return look, func() { c.Close() }, nil
}

// refereePostgres reads which session holds the lock. A session may hold it
// more than once in its life.
func refereePostgres(addresses []string, lock string) (read, func(), error) {
	const query = `SELECT a.application_name, a.pid FROM pg_locks l JOIN pg_stat_activity a USING (pid)
		WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
		AND l.objid::bigint = $1::bigint & 4294967295 AND l.classid::bigint = ($1::bigint >> 32) & 4294967295`
	var conn *pgx.Conn
	look := func(ctx context.Context) (r record, err error) {
		if conn == nil || conn.IsClosed() {
			if conn, err = pgx.Connect(ctx, fmt.Sprintf(electors.PostgresDSN, addresses[0])); err != nil {
				return r, err
			}
		}
		var pid int
		err = conn.QueryRow(ctx, query, electors.PostgresKey(lock)).Scan(&r.holder, &pid)
		if errors.Is(err, pgx.ErrNoRows) {
			return record{}, nil
		}
		r.term = fmt.Sprint(pid)
		return r, err
	}
	return look, func() {
		if conn != nil {
			_ = conn.Close(context.Background())
		}
	}, nil
}

// refereeNATS reads the key, whose value is the name of the holder and a random
// word. The server ends a key when it is older than the lease.
func refereeNATS(addresses []string, lock string) (read, func(), error) {
	nc, err := nats.Connect("nats://"+addresses[0], nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		return nil, nil, err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, nc.Close, err
	}
	var kv jetstream.KeyValue
	look := func(ctx context.Context) (record, error) {
		if kv == nil {
			bucket, err := js.KeyValue(ctx, electors.NATSBucket)
			if errors.Is(err, jetstream.ErrBucketNotFound) {
				return record{}, nil // no candidate was there yet
			}
			if err != nil {
				return record{}, err
			}
			kv = bucket
		}
		entry, err := kv.Get(ctx, lock)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			return record{}, nil
		}
		if err != nil {
			return record{}, err
		}
		holder, _, _ := strings.Cut(string(entry.Value()), " ")
		return record{holder: holder, term: string(entry.Value()), rest: max(time.Until(entry.Created().Add(electors.Lease)), 0)}, nil
	}
	return look, nc.Close, nil
}

// refereeZooKeeper reads the first node of the queue. The client waits a second
// before it connects again, and no call of it takes a context: after a look that
// failed the next has a client of its own.
func refereeZooKeeper(addresses []string, lock string) (read, func(), error) {
	var conn *zk.Conn
	closing := func() {
		if conn != nil {
			conn.Close()
			conn = nil
		}
	}
	type answer struct {
		record
		err error
	}
	look := func(ctx context.Context) (record, error) {
		if conn == nil {
			var err error
			if conn, err = electors.ZooKeeperClient(addresses[0]); err != nil {
				return record{}, err
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
			return a.record, a.err
		case <-ctx.Done():
			closing()
			return record{}, context.Cause(ctx)
		}
	}
	return look, closing, nil
}

var errFirstChanged = errors.New("the first has changed")

func firstOnZooKeeper(conn *zk.Conn, lock string) (record, error) {
	node, err := electors.FirstOnZooKeeper(conn, lock)
	if errors.Is(err, zk.ErrNoNode) || err == nil && node == "" {
		return record{}, nil
	}
	if err != nil {
		return record{}, err
	}
	holder, _, err := conn.Get(node)
	if errors.Is(err, zk.ErrNoNode) { // gone in between
		return record{}, errFirstChanged
	}
	return record{holder: string(holder), term: node}, err
}

// refereeKubernetes reads the Lease as candidates do: it is held while its
// duration runs since it was last seen to change. They do not compare renewTime
// with their clocks, and see a change where its whole second is another.
func refereeKubernetes(addresses []string, lock string) (read, func(), error) {
	config := electors.KubernetesConfig(addresses[0])
	config.QPS = -1 // unlimited
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	leases := clients.CoordinationV1().Leases(electors.KubernetesNamespace)
	var seen renewal
	look := func(ctx context.Context) (record, error) {
		asked := time.Now()
		l, err := leases.Get(ctx, lock, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return record{}, nil
		}
		if err != nil {
			return record{}, err
		}
		s := l.Spec
		if s.HolderIdentity == nil || *s.HolderIdentity == "" || s.LeaseDurationSeconds == nil || s.LeaseTransitions == nil || s.RenewTime == nil {
			return record{}, nil
		}
		seen.look(fmt.Sprint(l.UID, *s.HolderIdentity, *s.LeaseTransitions, s.RenewTime.Unix()), asked, time.Now())
		rest := time.Until(seen.by.Add(time.Duration(*s.LeaseDurationSeconds) * time.Second))
		if rest <= 0 {
			return record{}, nil
		}
		return record{holder: *s.HolderIdentity, term: fmt.Sprint(l.UID, *s.LeaseTransitions, s.AcquireTime), rest: rest, spread: seen.by.Sub(seen.after)}, nil
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
