//go:build integration

package faults

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8stypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/leaderscope/leaderscope/test/electors"
)

// losses drop a lock behind its holder's back, by server.
var losses = map[string]func(ctx context.Context, address, lock string) error{
	"dynalite":       loseOnDynamoDB,
	"etcd":           electors.RevokeOnEtcd,
	"kube-apiserver": loseOnKubernetes,
	"mariadb":        loseOnMariaDB,
	"nats":           electors.DeleteOnNATS,
	"postgres":       electors.TerminateOnPostgres,
	"redis":          electors.DeleteOnRedis,
	"zookeeper":      electors.DeleteOnZooKeeper,
}

// loseOnKubernetes gives the Lease to a holder that does not renew it.
func loseOnKubernetes(ctx context.Context, address, lock string) error {
	clients, err := kubernetes.NewForConfig(electors.KubernetesConfig(address))
	if err != nil {
		return err
	}
	leases := clients.CoordinationV1().Leases(electors.KubernetesNamespace)
	l, err := leases.Get(ctx, lock, metav1.GetOptions{})
	if err != nil {
		return err
	}
	patch := fmt.Sprintf(`{"spec":{"holderIdentity":"nobody-known","leaseTransitions":%d}}`, *l.Spec.LeaseTransitions+1)
	_, err = leases.Patch(ctx, lock, k8stypes.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

func loseOnDynamoDB(ctx context.Context, address, lock string) error {
	_, err := dynamoDB(address).DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: aws.String(dynamoTable), Key: map[string]types.AttributeValue{"key": &types.AttributeValueMemberS{Value: lock}},
	})
	return err
}

func deletePgLock(ctx context.Context, address, lock string) error {
	db, err := sql.Open("pgx", fmt.Sprintf(electors.PostgresDSN, address))
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, "DELETE FROM locks WHERE name = $1", lock)
	return err
}

func loseOnMariaDB(ctx context.Context, address, lock string) error {
	db, err := sql.Open("mysql", fmt.Sprintf(electors.MariaDSN, address))
	if err != nil {
		return err
	}
	defer db.Close()
	var id int64
	if err := db.QueryRowContext(ctx, "SELECT IS_USED_LOCK(?)", lock).Scan(&id); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, fmt.Sprint("KILL ", id))
	return err
}

// lose drops the lock.
func (e elector) lose(t testing.TB, address, lock string) {
	t.Helper()
	drop := e.drop
	if drop == nil {
		drop = losses[e.server]
	}
	if err := drop(t.Context(), address, lock); err != nil {
		t.Fatal(err)
	}
}
