package config

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// testdata/chart.yaml is what the chart makes of values that set everything;
// test/deploy keeps it current.
func TestTheConfigurationOfTheChartIsRead(t *testing.T) {
	got, err := Read("testdata/chart.yaml")
	if err != nil {
		t.Fatal(err)
	}
	small, big := AdvisoryKey(-42), AdvisoryKey(1<<62+1)
	want := Config{
		Listen: ":9713", ForgetAfter: 30 * time.Minute, MaxLocks: 100000,
		Redaction: Redaction{Policy: "hash", KeyFile: "/etc/leader-observer-key/key", KeyID: "k1"},
		Kubernetes: []Kubernetes{{
			Name: "kubernetes", Namespaces: []string{"a", "b"}, LabelSelector: "app in (x,y)", Names: []string{"report"}, WithSystem: true, LockName: "{name}@{namespace}",
		}},
		Etcd: []Etcd{{
			Name: "store", Endpoints: []string{"https://etcd:2379"}, Prefixes: []string{"/elections/"}, Username: "observer", PasswordFile: "/etc/secrets/etcd/password",
			CAFile: "/etc/secrets/etcd/ca", CertFile: "/etc/secrets/etcd/cert", KeyFile: "/etc/secrets/etcd/key",
		}},
		Postgres: []Postgres{{Name: "db", URLFile: "/etc/secrets/db/url", Every: 2 * time.Second, Locks: []PostgresLock{{Name: "report", Key: &small}, {Name: "big", Key: &big}}}},
		Redis:    []Redis{{Name: "cache", Address: "redis:6379", Username: "u", PasswordFile: "/etc/secrets/redis/password", Database: 1, TLS: true, Every: time.Second, Keys: []string{"report"}}},
		NATS:     []NATS{{Name: "bus", URL: "nats://nats:4222", CredentialsFile: "/etc/secrets/nats/creds", Bucket: "leases", Keys: "app.>"}},
		ZooKeeper: []ZooKeeper{{
			Name: "zk", Servers: []string{"zookeeper:2181"}, Timeout: 4 * time.Second, Paths: []string{"/locks/report"},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The schema of the chart's values has the keys of each backend and no others.
func TestTheSchemaOfTheChartHasTheKeysOfEachBackend(t *testing.T) {
	text, err := os.ReadFile("../../chart/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	type node struct {
		Properties map[string]node
		Items      *node
	}
	var schema node
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	var compare func(path string, of reflect.Type, n *node)
	compare = func(path string, of reflect.Type, n *node) {
		if n == nil {
			t.Fatalf("%s has no schema", path)
		}
		var want, got []string
		for i := range of.NumField() {
			f := of.Field(i)
			key := f.Tag.Get("yaml")
			want = append(want, key)
			if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct {
				compare(path+"."+key, f.Type.Elem(), n.Properties[key].Items)
			}
		}
		for key := range n.Properties {
			got = append(got, key)
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	for backend, of := range map[string]reflect.Type{
		"etcd": reflect.TypeFor[Etcd](), "postgres": reflect.TypeFor[Postgres](), "redis": reflect.TypeFor[Redis](),
		"nats": reflect.TypeFor[NATS](), "zookeeper": reflect.TypeFor[ZooKeeper](),
	} {
		compare(backend, of, schema.Properties[backend].Items)
	}
}
