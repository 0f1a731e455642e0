//go:build integration

package faults

import (
	"database/sql"
	"fmt"
	"io"
	"log"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-zookeeper/zk"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8stypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// losses drop a lock behind its holder's back, by server.
var losses = map[string]func(t testing.TB, address, lock string) error{
	"dynalite":       loseOnDynamoDB,
	"etcd":           loseOnEtcd,
	"kube-apiserver": loseOnKubernetes,
	"mariadb":        loseOnMariaDB,
	"nats":           loseOnNATS,
	"postgres":       loseOnPostgres,
	"redis":          loseOnRedis,
	"zookeeper":      loseOnZooKeeper,
}

// loseOnEtcd revokes the lease of the first in the queue.
func loseOnEtcd(t testing.TB, address, lock string) error {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{address}, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer c.Close()
	resp, err := c.Get(t.Context(), lock+"/", clientv3.WithFirstCreate()...)
	if err != nil {
		return err
	}
	if len(resp.Kvs) == 0 {
		return fmt.Errorf("no key below %s/", lock)
	}
	_, err = c.Revoke(t.Context(), clientv3.LeaseID(resp.Kvs[0].Lease))
	return err
}

// loseOnKubernetes gives the Lease to a holder that does not renew it.
func loseOnKubernetes(t testing.TB, address, lock string) error {
	clients, err := kubernetes.NewForConfig(kubernetesConfig(address))
	if err != nil {
		return err
	}
	leases := clients.CoordinationV1().Leases("default")
	l, err := leases.Get(t.Context(), lock, metav1.GetOptions{})
	if err != nil {
		return err
	}
	patch := fmt.Sprintf(`{"spec":{"holderIdentity":"nobody-known","leaseTransitions":%d}}`, *l.Spec.LeaseTransitions+1)
	_, err = leases.Patch(t.Context(), lock, k8stypes.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

func loseOnNATS(t testing.TB, address, lock string) error {
	nc, err := nats.Connect("nats://" + address)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	kv, err := js.KeyValue(t.Context(), "leases")
	if err != nil {
		return err
	}
	return kv.Purge(t.Context(), lock)
}

// loseOnRedis deletes the lock's key; rueidislock's has a prefix.
func loseOnRedis(t testing.TB, address, lock string) error {
	client := redisClient(address)
	defer client.Close()
	keys, err := client.Keys(t.Context(), "*"+lock).Result()
	if err != nil {
		return err
	}
	if len(keys) != 1 {
		return fmt.Errorf("%d keys of %s", len(keys), lock)
	}
	return client.Del(t.Context(), keys...).Err()
}

// loseOnZooKeeper deletes the node of the first in the queue.
func loseOnZooKeeper(_ testing.TB, address, lock string) error {
	conn, _, err := zk.Connect([]string{address}, lease, zk.WithLogInfo(false), zk.WithLogger(log.New(io.Discard, "", 0)))
	if err != nil {
		return err
	}
	defer conn.Close()
	parent := "/leaderscope/" + lock
	children, _, err := conn.Children(parent)
	if err != nil {
		return err
	}
	if len(children) == 0 {
		return fmt.Errorf("no node below %s", parent)
	}
	first := slices.MinFunc(children, func(a, b string) int {
		return strings.Compare(a[strings.LastIndex(a, "-"):], b[strings.LastIndex(b, "-"):])
	})
	return conn.Delete(path.Join(parent, first), -1)
}

func loseOnDynamoDB(t testing.TB, address, lock string) error {
	_, err := dynamoDB(address).DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
		TableName: aws.String(dynamoTable), Key: map[string]types.AttributeValue{"key": &types.AttributeValueMemberS{Value: lock}},
	})
	return err
}

func deletePgLock(t testing.TB, address, lock string) error {
	db, err := sql.Open("pgx", fmt.Sprintf(postgresDSN, address))
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "DELETE FROM locks WHERE name = $1", lock)
	return err
}

// loseOnPostgres ends the connection that the lock lives with.
func loseOnPostgres(t testing.TB, address, lock string) error {
	db, err := sql.Open("pgx", fmt.Sprintf(postgresDSN, address))
	if err != nil {
		return err
	}
	defer db.Close()
	const terminate = `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted
		AND objid::bigint = $1::bigint & 4294967295 AND classid::bigint = ($1::bigint >> 32) & 4294967295`
	_, err = db.ExecContext(t.Context(), terminate, postgresKey(lock))
	return err
}

func loseOnMariaDB(t testing.TB, address, lock string) error {
	db, err := sql.Open("mysql", fmt.Sprintf(mariaDSN, address))
	if err != nil {
		return err
	}
	defer db.Close()
	var id int64
	if err := db.QueryRowContext(t.Context(), "SELECT IS_USED_LOCK(?)", lock).Scan(&id); err != nil {
		return err
	}
	_, err = db.ExecContext(t.Context(), fmt.Sprint("KILL ", id))
	return err
}

// lose drops the lock.
func (e elector) lose(t testing.TB, address, lock string) {
	t.Helper()
	drop := e.drop
	if drop == nil {
		drop = losses[e.server]
	}
	if err := drop(t, address, lock); err != nil {
		t.Fatal(err)
	}
}
