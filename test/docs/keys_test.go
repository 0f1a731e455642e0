package docs

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

var (
	dotted = regexp.MustCompile("`([a-z][A-Za-z]*(?:\\.[a-z][A-Za-z]*)+)`")
	camel  = regexp.MustCompile("`([a-z]+[A-Z][A-Za-z]*)`")
)

// elsewhere are words that look like keys and are not ours.
var elsewhere = []string{
	"fsGroup", "holderIdentity", "honorLabels", "leaseDurationSeconds", "leaseTransitions", "renewTime", // Kubernetes
	"podMonitorSelector", "ruleSelector", "serviceMonitorSelector", // the Prometheus Operator
	"lock.name", // an attribute of OpenTelemetry
}

// keysOf lists the paths of a YAML document, sections included.
func keysOf(t *testing.T, text []byte) (all []string) {
	t.Helper()
	var document any
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	var walk func(prefix string, node any)
	walk = func(prefix string, node any) {
		switch node := node.(type) {
		case map[string]any:
			for key, value := range node {
				all = append(all, prefix+key)
				walk(prefix+key+".", value)
			}
		case []any:
			for _, value := range node {
				walk(prefix, value)
			}
		}
	}
	walk("", document)
	return all
}

// configurations are the keys of the generator, and those of every file that a
// reader may write.
func configurations(t *testing.T) (generator, all []string) {
	t.Helper()
	out, err := exec.Command("go", "run", "../../cmd/gen-dashboards", "config").Output()
	if err != nil {
		t.Fatalf("gen-dashboards config: %v", err)
	}
	generator = keysOf(t, out)
	all = append(slices.Clone(generator), keysOf(t, []byte(read(t, "../../cmd/leader-observer/chart/values.yaml")))...)
	for _, block := range regexp.MustCompile("(?s)```yaml\n(listen:.*?)```").FindAllStringSubmatch(read(t, "../../docs/observer.md"), -1) {
		all = append(all, keysOf(t, []byte(block[1]))...) // it has every key of the observer
	}
	return generator, all
}

// wrongKeys are words of a page that look like keys and are none.
func wrongKeys(text string, generator, all []string) (wrong []string) {
	segments := map[string]bool{}
	for _, key := range all {
		for segment := range strings.SplitSeq(key, ".") {
			segments[segment] = true
		}
	}
	sections := map[string]bool{}
	for _, key := range generator {
		for section := range strings.SplitSeq(filepath.Dir(strings.ReplaceAll(key, ".", "/")), "/") {
			sections[section] = true
		}
	}
	for _, found := range dotted.FindAllStringSubmatch(text, -1) {
		first, _, _ := strings.Cut(found[1], ".")
		isKey := slices.Contains(elsewhere, found[1]) || slices.ContainsFunc(generator, func(key string) bool { return key == found[1] || strings.HasSuffix(key, "."+found[1]) })
		if isFile := filepath.Ext(found[1]); sections[first] && !isKey && !slices.Contains([]string{".yaml", ".yml", ".json", ".md", ".go"}, isFile) {
			wrong = append(wrong, found[1])
		}
	}
	for _, found := range camel.FindAllStringSubmatch(text, -1) {
		if !segments[found[1]] && !slices.Contains(elsewhere, found[1]) {
			wrong = append(wrong, found[1])
		}
	}
	return wrong
}

func TestKeysThatThePagesNameAreInAConfiguration(t *testing.T) {
	generator, all := configurations(t)
	for file, text := range pages(t) {
		if filepath.Base(file) == "CHANGELOG.md" {
			continue // it names what is gone, too
		}
		for _, key := range wrongKeys(text, generator, all) {
			t.Errorf("%s: no configuration has the key %s", file, key)
		}
	}
	for text, want := range map[string]string{
		"`scope.labels`, `noLeader.critical.for`, `critical.for` and `keepFiringFor`": "",
		"`scopeLabels` and `holderLabel`":                                             "scopeLabels, holderLabel",
		"`scope.label`":                                                               "scope.label",
		"`alerts.noLeader.downfor`":                                                   "alerts.noLeader.downfor",
		"`service.instance.id`, `go.mod`, `instrument.New`, `prometheus.yml`":         "",
	} {
		if got := strings.Join(wrongKeys(text, generator, all), ", "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
