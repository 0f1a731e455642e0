package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/test/electors"
	"github.com/leaderscope/leaderscope/test/record"
)

// backend is an elector and its server.
type backend struct {
	name, title, server string
	options             []instrument.ElectionOption
	connect             electors.Connect
	campaign            func(context.Context, electors.Replica, *instrument.Election, func(context.Context)) error
	// referee opens a connection of its own that reads the record.
	referee record.Open
	// remove deletes the record as an operator would.
	remove func(ctx context.Context, address, lock string) error
	// bound says that the lock lives with its connection: no replica holds it while
	// the server is down.
	bound bool

	// givesUp is how long before its lease end the elector gives up when no answer
	// comes.
	givesUp time.Duration

	// blind is the longest time at a stretch that leader_active may be 1 after
	// the record is gone, and why says why.
	blind time.Duration
	why   string
	// leaseless says that there is no lease end, at which leader_active is 0 in any
	// case.
	leaseless bool
}

// allowed is the longest time at a stretch that leader_active may be 1 after the
// record is gone. A process that a fault keeps from its server learns of that at
// its lease end.
func (b backend) allowed(deaf bool) time.Duration {
	if deaf && !b.leaseless {
		return max(b.blind, electors.Lease-b.givesUp+scrapes)
	}
	return b.blind
}

const (
	// scrapes is what two scrapes leave open.
	scrapes = 2 * interval
	// natsWatchAfter is the age of a term at which the adapter watches its key.
	natsWatchAfter = 250 * time.Millisecond
)

var backends = []backend{
	{
		name: "etcd", title: "etcd concurrency.Election", server: "etcd",
		options: []instrument.ElectionOption{instrument.Hold(), instrument.LeaseDuration(electors.Lease), instrument.Backend("etcd")},
		connect: electors.EtcdElection, referee: record.Etcd, remove: electors.DeleteOnEtcd, givesUp: electors.Lease / 10,
		blind: scrapes, why: "the adapter watches the leader's key.",
	},
	{
		name: "redis", title: "bsm/redislock", server: "redis",
		options: []instrument.ElectionOption{instrument.Backend("redis")},
		connect: electors.RedisLock, referee: record.Redis, remove: electors.DeleteOnRedis, givesUp: electors.Lease / 10,
		blind: electors.Lease/3 + scrapes,
		why:   "redislock does not hear that a key is gone. The holder learns of it at its next renewal, a third of the lease later at most.",
	},
	{
		name: "postgres", title: "PostgreSQL advisory lock", server: "postgres",
		options: []instrument.ElectionOption{instrument.Hold(), instrument.Backend("postgres")},
		connect: electors.Postgres, referee: record.Postgres, remove: electors.TerminateOnPostgres, bound: true, leaseless: true,
		blind: electors.SQLCheck + scrapes,
		why:   "an advisory lock has no lease: the holder learns that its session is gone at its next check.",
	},
	{
		name: "nats", title: "NATS JetStream key-value", server: "nats",
		options: []instrument.ElectionOption{instrument.Hold(), instrument.LeaseDuration(electors.Lease), instrument.Backend("nats")},
		connect: electors.NATSKeyValue, referee: record.NATS, remove: electors.DeleteOnNATS, givesUp: electors.Lease / 10,
		blind: natsWatchAfter + scrapes,
		why:   "the adapter watches the key from a quarter of a second after the win: a key that is deleted sooner shows when the watch opens.",
	},
	{
		name: "zookeeper", title: "go-zookeeper", server: "zookeeper",
		options: []instrument.ElectionOption{instrument.Hold(), instrument.LeaseDuration(electors.Lease), instrument.Backend("zookeeper")},
		connect: electors.ZooKeeper, referee: record.ZooKeeper, remove: electors.DeleteOnZooKeeper,
		blind: scrapes, why: "the adapter watches its node.",
	},
	{
		name: "kubernetes", title: "client-go leaderelection", server: "kube-apiserver",
		options:  []instrument.ElectionOption{instrument.Hold(), instrument.Backend("kubernetes")},
		campaign: electors.KubernetesLease, referee: record.Kubernetes, remove: electors.DeleteOnKubernetes,
		givesUp: electors.Lease - electors.RenewDeadline,
		blind:   electors.RetryPeriod + scrapes,
		why:     "client-go does not watch the Lease: the holder learns that it is gone when it next renews it.",
	},
}

func find(name string) (backend, error) {
	i := slices.IndexFunc(backends, func(b backend) bool { return b.name == name })
	if i < 0 {
		return backend{}, fmt.Errorf("unknown elector %q; valid electors: %s", name, strings.Join(names(), ", "))
	}
	return backends[i], nil
}

func names() (all []string) {
	for _, b := range backends {
		all = append(all, b.name)
	}
	return all
}
