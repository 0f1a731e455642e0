package config

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWhatTheFileSaysAndWhatHoldsOtherwise(t *testing.T) {
	got, err := Parse([]byte(`
listen: 0.0.0.0:80
forgetAfter: 10m
redaction: {policy: hash, keyFile: /etc/key, keyID: k1}
kubernetes:
  - {}
  - {name: other, namespaces: [a, b], names: [x], lockName: "{name}", withSystemLeases: true}
etcd:
  - {endpoints: ["http://e:2379"], prefixes: [/elections/]}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Listen: "0.0.0.0:80", ForgetAfter: 10 * time.Minute, MaxLocks: 20000,
		Redaction: Redaction{Policy: "hash", KeyFile: "/etc/key", KeyID: "k1"},
		Kubernetes: []Kubernetes{
			{Name: "kubernetes", Namespaces: []string{""}, LockName: "{namespace}/{name}"},
			{Name: "other", Namespaces: []string{"a", "b"}, Names: []string{"x"}, LockName: "{name}", WithSystem: true},
		},
		Etcd: []Etcd{{Name: "etcd", Endpoints: []string{"http://e:2379"}, Prefixes: []string{"/elections/"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsWrongIsNamedWithItsLineAndRemedy(t *testing.T) {
	const ok = "redaction: {policy: raw}\n"
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                {"", "redaction.policy: is missing; use raw (names as they are), hash (with keyFile and keyID) or constant (one label for all names)"},
		"no policy":              {"kubernetes: [{}]", "redaction.policy: is missing; use raw (names as they are), hash (with keyFile and keyID) or constant (one label for all names)"},
		"another policy":         {"kubernetes: [{}]\nredaction:\n  policy: plain", `line 3: redaction.policy: unknown policy "plain"; valid policies: raw, hash, constant`},
		"a hash without a key":   {"redaction:\n  policy: hash", "line 2: redaction: policy hash needs keyFile and keyID; use those of the programs that campaign"},
		"a key without a hash":   {"redaction:\n  policy: raw\n  keyFile: x", "line 3: redaction.keyFile: is not used by policy raw; remove it, or use policy hash"},
		"nothing to watch":       {ok, "no backend is configured; add kubernetes, etcd, postgres, redis, nats or zookeeper"},
		"an unknown key":         {ok + "kubernets: []", `line 2, column 1: unknown field "kubernets"`},
		"another type":           {ok + "kubernetes:\n  name: x", "line 3, column 7: mapping was used where sequence is expected"},
		"a broken file":          {ok + "kubernetes: [", "line 2, column 13: sequence end token ']' not found"},
		"an address":             {ok + "listen: 80\nkubernetes: [{}]", `line 2: listen: "80" is not a valid address; write host:port, such as 127.0.0.1:9713`},
		"a time before":          {ok + "forgetAfter: -1s\nkubernetes: [{}]", "line 2: forgetAfter: is negative; use 0 to keep locks whose record is gone forever"},
		"no locks":               {ok + "maxLocks: 0\nkubernetes: [{}]", "line 2: maxLocks: is 0; use at least 1"},
		"two of a name":          {ok + "kubernetes:\n  - {}\n  - {}", `line 4: kubernetes[1]: duplicate name "kubernetes"; give each backend a name of its own`},
		"two kinds of a name":    {ok + "kubernetes:\n  - {name: etcd}\netcd:\n  - {endpoints: [a], prefixes: [b]}", `line 5: etcd[0]: duplicate name "etcd"; give each backend a name of its own`},
		"one name for all":       {ok + "kubernetes:\n  - lockName: x", `line 3: kubernetes[0].lockName: "x" lacks {name}, so several leases would be one lock; use {namespace} and {name}`},
		"names of all":           {ok + "kubernetes:\n  - lockName: '{name}'", `line 3: kubernetes[0].lockName: "{name}" lacks {namespace}, so leases with the same name would be one lock; add it, or configure a single namespace`},
		"no endpoints":           {ok + "etcd:\n  - {prefixes: [a]}", "line 3: etcd[0].endpoints: is missing; list at least one, such as https://etcd:2379"},
		"no prefixes":            {ok + "etcd:\n  - {endpoints: [a]}", "line 3: etcd[0].prefixes: is missing; list the prefixes of elections and mutexes, such as /elections/"},
		"an empty prefix":        {ok + "etcd:\n  - endpoints: [a]\n    prefixes:\n      - ''", "line 5: etcd[0].prefixes[0]: is empty, which matches every key; write the prefix of the elections"},
		"half a certificate":     {ok + "etcd:\n  - {endpoints: [a], prefixes: [b], keyFile: k}", "line 3: etcd[0]: has only one of certFile and keyFile; a client certificate needs both"},
		"half a login":           {ok + "etcd:\n  - {endpoints: [a], prefixes: [b], username: k}", "line 3: etcd[0]: has only one of username and passwordFile; set both"},
		"no database":            {ok + "postgres:\n  - locks: []", "line 3: postgres[0].urlFile: is missing; name a file that contains the URL, such as postgres://observer@db/app"},
		"no advisory locks":      {ok + "postgres:\n  - urlFile: x", "line 3: postgres[0].locks: is missing; list each advisory lock with a name and its key"},
		"a lock without a key":   {ok + "postgres:\n  - urlFile: x\n    locks:\n      - name: x", "line 5: postgres[0].locks[0]: needs a name, and the key that is passed to pg_advisory_lock(key)"},
		"a key with a point":     {ok + "postgres:\n  - urlFile: x\n    locks:\n      - {name: x, key: 1.5}", `line 5: key "1.5" is not a 64-bit integer; write the digits of the key, in quotes if a tool changes large numbers`},
		"a key that was a float": {ok + "postgres:\n  - urlFile: x\n    locks:\n      - {name: x, key: 4.6e+18}", `line 5: key "4.6e+18" is not a 64-bit integer; write the digits of the key, in quotes if a tool changes large numbers`},
		"a key of 65 bits":       {ok + "postgres:\n  - urlFile: x\n    locks:\n      - {name: x, key: 9223372036854775808}", `line 5: key "9223372036854775808" is not a 64-bit integer; write the digits of the key, in quotes if a tool changes large numbers`},
		"looks without a pause":  {ok + "redis:\n  - address: a:1\n    keys: [x]\n    every: 1ms", "line 5: redis[0].every: is 1ms; use at least 100ms"},
		"no Redis":               {ok + "redis:\n  - keys: [x]", "line 3: redis[0].address: is missing; write host:port, such as redis:6379"},
		"no keys":                {ok + "redis:\n  - address: a:1", "line 3: redis[0].keys: is missing; list the keys of the locks"},
		"no NATS":                {ok + "nats:\n  - bucket: x", "line 3: nats[0].url: is missing; write the address of a server, such as nats://nats:4222"},
		"no bucket":              {ok + "nats:\n  - url: x", "line 3: nats[0].bucket: is missing; name the key-value bucket of the locks"},
		"no ZooKeeper":           {ok + "zookeeper:\n  - paths: [/x]", "line 3: zookeeper[0].servers: is missing; list at least one server, such as zookeeper:2181"},
		"no queues":              {ok + "zookeeper:\n  - servers: [x]", "line 3: zookeeper[0].paths: is missing; list the parent nodes of the candidates"},
		"no path":                {ok + "zookeeper:\n  - servers: [x]\n    paths:\n      - x/", `line 5: zookeeper[0].paths[0]: "x/" is not a valid node path; write it with a slash at its start and none at its end`},
		"a short session":        {ok + "zookeeper:\n  - servers: [x]\n    paths: [/x]\n    timeout: 1ms", "line 5: zookeeper[0].timeout: is 1ms; use at least 1s, the shortest session timeout"},
		"an alias":               {"a: &x {policy: raw}\nredaction: *x", "line 1: anchors and aliases are not supported; write the value out"},
		"two documents":          {ok + "---\n" + ok, "the file has several YAML documents; keep one"},
		"a file without an end":  {strings.Repeat("#", 1<<20+1), "the configuration is larger than the maximum of 1048576 bytes; remove what is not needed"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.text))
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestAFileThatIsNotThereIsNamed(t *testing.T) {
	if _, err := Read("no-such-file.yaml"); err == nil || !strings.Contains(err.Error(), "no-such-file.yaml") || !strings.Contains(err.Error(), "--config") {
		t.Errorf("%v", err)
	}
}

// The page shows a configuration that is read, and every key.
func TestThePageShowsEveryKey(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/observer.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "## Configuration\n")
	_, rest, _ = strings.Cut(rest, "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	if _, err := Parse([]byte(example)); err != nil {
		t.Fatalf("%v in:\n%s", err, example)
	}
	var keys func(reflect.Type)
	keys = func(of reflect.Type) {
		for i := range of.NumField() {
			f := of.Field(i)
			if key := f.Tag.Get("yaml"); !strings.Contains(example, key+":") {
				t.Errorf("the key %s of %s is not shown", key, of.Name())
			}
			at := f.Type
			if at.Kind() == reflect.Slice {
				at = at.Elem()
			}
			if at.Kind() == reflect.Struct {
				keys(at)
			}
		}
	}
	keys(reflect.TypeFor[Config]())
}

// A key is another lock if it loses its last digit.
func TestAKeyIsReadToItsLastDigit(t *testing.T) {
	for text, want := range map[string]AdvisoryKey{
		"42": 42, "-42": -42, "0": 0, "4611686018427387905": 4611686018427387905, "'4611686018427387905'": 4611686018427387905, `"-9223372036854775808"`: -9223372036854775808,
	} {
		c, err := Parse([]byte("redaction: {policy: raw}\npostgres:\n  - {urlFile: x, locks: [{name: x, key: " + text + "}]}"))
		if err != nil || *c.Postgres[0].Locks[0].Key != want {
			t.Errorf("%s: %v, %v", text, c.Postgres, err)
		}
	}
}
