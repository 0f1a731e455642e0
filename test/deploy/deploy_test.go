package deploy

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"sigs.k8s.io/yaml"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/internal/condition"
)

var update = flag.Bool("update", false, "write the generated files")

// everything sets what the chart can set.
const everything = `
image: registry.example.com/leader-observer:0.1.0
imagePullSecrets: [{name: registry}]
replicas: 2
kubernetes: {namespaces: [a, b], labelSelector: "app in (x,y)", names: [report], withSystemLeases: true, lockName: "{name}@{namespace}"}
redaction: {policy: hash, keyID: k1, keySecret: observer-key}
etcd: [{name: store, endpoints: ["https://etcd:2379"], prefixes: [/elections/], username: observer, passwordFile: /etc/secrets/etcd/password, caFile: /etc/secrets/etcd/ca, certFile: /etc/secrets/etcd/cert, keyFile: /etc/secrets/etcd/key}]
postgres: [{name: db, urlFile: /etc/secrets/db/url, every: 2s, locks: [{name: report, key: -42}, {name: big, key: '4611686018427387905'}]}]
redis: [{name: cache, address: "redis:6379", username: u, passwordFile: /etc/secrets/redis/password, database: 1, tls: true, every: 1s, keys: [report]}]
nats: [{name: bus, url: "nats://nats:4222", credentialsFile: /etc/secrets/nats/creds, bucket: leases, keys: "app.>"}]
zookeeper: [{name: zk, servers: ["zookeeper:2181"], timeout: 4s, paths: [/locks/report]}]
secrets: [etcd, db, redis, nats]
forgetAfter: 30m
maxLocks: 100000
podMonitor: {interval: 15s, labels: {release: stack}}
prometheusRule: {labels: {release: stack}}
podAnnotations: {example.com/owner: platform}
nodeSelector: {kubernetes.io/os: linux}
tolerations: [{key: dedicated, operator: Exists}]
priorityClassName: system-cluster-critical
`

const (
	noOperator = "podMonitor: {enabled: false}\nprometheusRule: {enabled: false}\n"
	noLeases   = "kubernetes: {enabled: false}\nredis: [{address: 'redis:6379', keys: [report]}]\n"
)

// renderings are what users can render, by a name.
var renderings = map[string]func() ([][]byte, error){
	"the chart":                      func() ([][]byte, error) { return Helm("") },
	"the chart for one namespace":    func() ([][]byte, error) { return Helm("kubernetes: {namespaces: [default]}") },
	"the chart without the operator": func() ([][]byte, error) { return Helm(noOperator) },
	"the chart without Leases":       func() ([][]byte, error) { return Helm(noLeases) },
	"the chart with all it has":      func() ([][]byte, error) { return Helm(everything) },
	"the manifests":                  func() ([][]byte, error) { return Kustomize(Base) },
	"the base":                       func() ([][]byte, error) { return Kustomize(Base + "/base") },
	"one namespace":                  func() ([][]byte, error) { return Kustomize(Base + "/one-namespace") },
}

func rendered(t *testing.T, render func() ([][]byte, error)) [][]byte {
	t.Helper()
	documents, err := render()
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

// comparable are objects by kind, namespace and name, without what the two tools
// add: Kustomize a hash of the configuration to its name, the chart one to the
// pod. Helm makes the namespace itself.
func comparable(t *testing.T, documents [][]byte) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, document := range documents {
		var o map[string]any
		if err := yaml.Unmarshal(document, &o); err != nil {
			t.Fatal(err)
		}
		meta := o["metadata"].(map[string]any)
		switch o["kind"] {
		case "Namespace":
			continue
		case "ConfigMap":
			meta["name"] = Name
			var content any
			if err := yaml.Unmarshal([]byte(o["data"].(map[string]any)["config.yaml"].(string)), &content); err != nil {
				t.Fatal(err)
			}
			o["data"] = content
		case "Deployment":
			template := o["spec"].(map[string]any)["template"].(map[string]any)
			delete(template["metadata"].(map[string]any), "annotations")
			volume := template["spec"].(map[string]any)["volumes"].([]any)[0].(map[string]any)
			volume["configMap"] = map[string]any{"name": Name}
		}
		namespace, _ := meta["namespace"].(string)
		key := strings.Join([]string{o["kind"].(string), namespace, meta["name"].(string)}, "/")
		if all[key] != nil {
			t.Errorf("%s is there twice", key)
		}
		all[key] = o
	}
	return all
}

func TestTheChartAndTheManifestsAreTheSameObjects(t *testing.T) {
	for values, folder := range map[string]string{
		"":                                    Base,
		noOperator:                            Base + "/base",
		"kubernetes: {namespaces: [default]}": Base + "/one-namespace",
	} {
		chart, err := Helm(values)
		if err != nil {
			t.Fatal(err)
		}
		manifests, err := Kustomize(folder)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(comparable(t, manifests), comparable(t, chart)); diff != "" {
			t.Errorf("%s differs from the chart with %q (-manifests +chart):\n%s", folder, values, diff)
		}
	}
}

func TestAWrongValueIsOneError(t *testing.T) {
	const schema = "values don't meet the specifications of the schema(s) in the following chart(s):\nleader-observer:\n- at "
	for values, want := range map[string]string{
		"replicas: two":                               schema + "'/replicas': got string, want integer\n",
		"kubernets: {}":                               schema + "'': additional properties 'kubernets' not allowed\n",
		"kubernetes: {namespace: a}":                  schema + "'/kubernetes': additional properties 'namespace' not allowed\n",
		"kubernetes: {namespaces: a}":                 schema + "'/kubernetes/namespaces': got string, want array\n",
		"kubernetes: {namespaces: [a_b]}":             schema + "'/kubernetes/namespaces/0': 'a_b' does not match pattern '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'\n",
		"redaction: {policy: plain}":                  schema + "'/redaction/policy': value must be one of 'raw', 'hash', 'constant'\n",
		"redaction: {policy: hash, keyID: k1}":        schema + "'/redaction/keySecret': '' does not match pattern '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$'\n",
		"redaction: {keySecret: x}":                   schema + "'/redaction/keySecret': value must be ''\n",
		"forgetAfter: 3600":                           schema + "'/forgetAfter': got number, want string\n",
		"etcd: [{prefixes: [/x/]}]":                   schema + "'/etcd/0': missing property 'endpoints'\n",
		"postgres: [{urlFile: x, locks: [{key: 1}]}]": schema + "'/postgres/0/locks/0': missing property 'name'\n",
		"postgres: [{urlFile: x, locks: [{name: x, key: 4611686018427387905}]}]": schema + "'/postgres/0/locks/0/key': maximum: got 4.611686018427388×10¹⁸, want 9.007199254740992×10¹⁵\n",
		"redis: [{address: a, keys: []}]":                                        schema + "'/redis/0/keys': minItems: got 0, want 1\n",
		"zookeeper: [{servers: [a], paths: [x]}]":                                schema + "'/zookeeper/0/paths/0': 'x' does not match pattern '^/.*[^/]$'\n",
		"kubernetes: {enabled: false}":                                           "nothing is watched: set kubernetes.enabled, or add etcd, postgres, redis, nats or zookeeper",
		"kubernetes: {lockName: '{name}'}":                                       `kubernetes.lockName: "{name}" lacks {namespace}, so that leases of one name would be one lock: add it, or name one namespace`,
	} {
		_, err := Helm(values)
		switch {
		case err == nil:
			t.Errorf("%s is taken", values)
		case strings.HasPrefix(want, schema) && err.Error() != want, !strings.HasSuffix(err.Error(), want):
			t.Errorf("%s:\n%v\nwant\n%s", values, err, want)
		}
	}
}

func TestTheChartHasNothingForHelmToComplainAbout(t *testing.T) {
	for _, m := range lint.RunAll(Chart, nil, Name).Messages {
		if m.Severity > support.InfoSev {
			t.Errorf("%s: %v", m.Path, m.Err)
		}
	}
}

func TestTheChartHasTheVersionOfTheCode(t *testing.T) {
	chart, err := loader.LoadDir(Chart)
	if err != nil {
		t.Fatal(err)
	}
	if chart.Metadata.Version != instrument.Version || chart.Metadata.AppVersion != instrument.Version {
		t.Errorf("the chart is %s of %s, want %s", chart.Metadata.Version, chart.Metadata.AppVersion, instrument.Version)
	}
}

// The files that are made of others. internal/config of the observer reads the
// configuration that the chart makes of everything.
func TestWhatIsGeneratedIsCurrent(t *testing.T) {
	const origin = "# Generated from %; `go test ./deploy -update` in test writes it again.\n"
	rules := viewRules(t)
	header := strings.ReplaceAll(origin, "%", "the default rules of module alerts")
	object := header + `apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: leader-observer
  namespace: leader-observer
  labels:
    app.kubernetes.io/name: leader-observer
    app.kubernetes.io/instance: leader-observer
spec:
` + indented(rules)
	current(t, Base+"/operator/prometheusrule.yaml", object)
	current(t, Chart+"/rules.yaml", header+rules)
	for _, document := range rendered(t, renderings["the chart with all it has"]) {
		var m struct {
			Kind string            `json:"kind"`
			Data map[string]string `json:"data"`
		}
		if err := yaml.Unmarshal(document, &m); err != nil {
			t.Fatal(err)
		}
		if m.Kind == "ConfigMap" {
			made := strings.ReplaceAll(origin, "%", "the chart")
			current(t, "../../cmd/leader-observer/internal/config/testdata/chart.yaml", made+m.Data["config.yaml"])
		}
	}
}

// viewRules are the default alerts that need nothing but the observer, as a
// rules file.
func viewRules(t *testing.T) string {
	t.Helper()
	file, err := alerts.YAML(alerts.Default())
	if err != nil {
		t.Fatal(err)
	}
	view := []string{condition.Vacant.Alert, condition.Impostor.Alert, condition.ObserverBlind.Alert}
	type rule map[string]any
	type group struct {
		Name  string `json:"name"`
		Rules []rule `json:"rules"`
	}
	var all, made struct {
		Groups []group `json:"groups"`
	}
	if err := yaml.Unmarshal(file, &all); err != nil {
		t.Fatal(err)
	}
	own := group{Name: "leader-observer"}
	for _, g := range all.Groups {
		for _, r := range g.Rules {
			if name, _ := r["alert"].(string); slices.Contains(view, strings.TrimPrefix(name, alerts.Prefix)) {
				own.Rules = append(own.Rules, r)
			}
		}
	}
	if len(own.Rules) != len(view) {
		t.Fatalf("%d default rules are about the backend's view, want %v", len(own.Rules), view)
	}
	made.Groups = []group{own}
	text, err := yaml.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	return b.String()
}

func current(t *testing.T, file, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is not current; run go test ./deploy -update: %s", file, diff)
	}
}
