package deploy

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/config"
	_ "github.com/prometheus/prometheus/discovery/kubernetes" // the page has a scrape job of it
	"helm.sh/helm/v4/pkg/strvals"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"
)

// root is that of the repository, for which the page's commands are.
const root = "../.."

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(root + "/docs/observer.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocks are the fenced ones of a language.
func blocks(text, language string) (all []string) {
	for _, found := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		all = append(all, found[1])
	}
	return all
}

// file is the block that begins with the name of that file.
func file(t *testing.T, name string) string {
	t.Helper()
	for _, b := range blocks(page(t), "yaml") {
		if strings.HasPrefix(b, "# "+name+"\n") {
			return b
		}
	}
	t.Fatalf("the page has no %s", name)
	return ""
}

// installed renders what helm install or upgrade with these arguments would.
func installed(t *testing.T, args []string) ([][]byte, error) {
	t.Helper()
	values := map[string]any{}
	for i := 0; i+1 < len(args); i++ {
		switch args[i] {
		case "--set":
			if err := strvals.ParseInto(strings.Trim(args[i+1], "'"), values); err != nil {
				return nil, err
			}
		case "--values":
			if err := yaml.Unmarshal([]byte(file(t, args[i+1])), &values); err != nil {
				return nil, err
			}
		}
	}
	text, err := yaml.Marshal(values)
	if err != nil {
		return nil, err
	}
	return Helm(string(text))
}

// checkers hold each command of the page, by how it begins. %s is a path from
// the root of the repository.
var checkers = map[string]func(t *testing.T, words []string) error{
	"docker build": func(_ *testing.T, words []string) error {
		_, err := os.Stat(filepath.Join(root, words[slices.Index(words, "-f")+1]))
		return err
	},
	"docker push": func(t *testing.T, words []string) error {
		if !strings.Contains(page(t), " -t "+words[2]+" ") || !strings.Contains(page(t), "image="+words[2]) {
			return fmt.Errorf("another image is built or installed")
		}
		return nil
	},
	"helm install": helm,
	"helm upgrade": helm,
	"kubectl -n": func(t *testing.T, words []string) error {
		if words[3] == "apply" { // what gen-dashboards wrote
			return nil
		}
		deployment := only[*appsv1.Deployment](t, objects(t, rendered(t, renderings["the chart"])))
		for _, w := range words {
			if name, is := strings.CutPrefix(w, "deploy/"); is && name != deployment.Name {
				return fmt.Errorf("no deployment %s", name)
			}
			if name, is := strings.CutPrefix(w, "--from-file="); is && !strings.HasPrefix(name, "key=") {
				return fmt.Errorf("the chart reads the entry key, not %s", name)
			}
		}
		if words[2] != deployment.Namespace {
			return fmt.Errorf("it is in %s", deployment.Namespace)
		}
		if len(words) > 6 && words[3] == "create" && !strings.Contains(file(t, "values.yaml"), words[6]) {
			return fmt.Errorf("the values name no secret %s", words[6])
		}
		return nil
	},
	"curl -s": func(_ *testing.T, words []string) error {
		if words[2] != "localhost:9713/metrics" {
			return fmt.Errorf("another address")
		}
		return nil
	},
	"go run": func(t *testing.T, words []string) error {
		dir, is := strings.CutPrefix(strings.TrimSuffix(words[2], "@latest"), "github.com/leaderscope/leaderscope/")
		main, err := os.ReadFile(filepath.Join(root, dir, "main.go"))
		if err != nil || !is {
			return fmt.Errorf("no command %s: %w", words[2], err)
		}
		if i := slices.Index(words, "--format"); i > 0 {
			formats, err := os.ReadFile(filepath.Join(root, dir, "formats.go"))
			made := words[slices.Index(words, "--out")+1] + "/" + words[i+1]
			if err != nil || !strings.Contains(string(formats), `{name: "`+words[i+1]+`"`) || !strings.Contains(page(t), " apply -f "+made+"\n") {
				return fmt.Errorf("no format %s, or its folder is not applied: %w", words[i+1], err)
			}
		}
		for _, w := range words[3:] {
			if flag, is := strings.CutPrefix(w, "--"); is && !strings.Contains(string(main), `"`+flag+`"`) {
				return fmt.Errorf("no flag %s", w)
			}
		}
		return nil
	},
	"go test": func(_ *testing.T, words []string) error {
		tests, err := filepath.Glob(filepath.Join(root, words[slices.Index(words, "-C")+1], words[len(words)-1], "*_test.go"))
		name := regexp.MustCompile(`func Benchmark\w*` + words[slices.Index(words, "-bench")+1])
		for _, f := range tests {
			if text, err := os.ReadFile(f); err == nil && name.Match(text) {
				return nil
			}
		}
		return fmt.Errorf("no such benchmark: %v", err)
	},
}

func helm(t *testing.T, words []string) error {
	if words[2] != Name || filepath.Join(root, words[3]) != filepath.Clean(Chart) || words[slices.Index(words, "--namespace")+1] != Name {
		return fmt.Errorf("another release, chart or namespace")
	}
	_, err := installed(t, words)
	return err
}

func TestTheCommandsOfThePageAreTrue(t *testing.T) {
	var checked []string
	for _, block := range blocks(page(t), "sh") {
		for line := range strings.Lines(block) {
			words := strings.Fields(line)
			begin := strings.Join(words[:2], " ")
			check := checkers[begin]
			if check == nil {
				t.Errorf("nothing checks %s", line)
				continue
			}
			checked = append(checked, begin)
			if err := check(t, words); err != nil {
				t.Errorf("%s: %v", strings.TrimSpace(line), err)
			}
		}
	}
	for begin := range checkers {
		if !slices.Contains(checked, begin) {
			t.Errorf("the page has no %s", begin)
		}
	}
}

// Each row of a table that has settings for Helm and folders for Kustomize.
func TestTheSettingsOfThePageAreThere(t *testing.T) {
	found := 0
	for _, option := range regexp.MustCompile("`--set ([^`]+)`").FindAllStringSubmatch(page(t), -1) {
		found++
		if _, err := installed(t, []string{"--set", option[1]}); err != nil {
			t.Errorf("%s: %v", option[0], err)
		}
	}
	for _, folder := range regexp.MustCompile("`(cmd/leader-observer/deploy[a-z/-]*)`").FindAllStringSubmatch(page(t), -1) {
		found++
		if _, err := Kustomize(filepath.Join(root, folder[1])); err != nil {
			t.Error(err)
		}
	}
	if found != 6 {
		t.Errorf("%d settings and folders", found)
	}
}

// A folder elsewhere stands for the root of the repository.
func TestTheKustomizationOfThePageSetsTheImage(t *testing.T) {
	dir := t.TempDir()
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	to, err := filepath.Rel(dir, here)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(file(t, "kustomization.yaml"), "- cmd/", "- "+to+"/cmd/", 1) + "labels: [{pairs: {release: NAME}}]\n"
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	documents, err := Kustomize(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := objects(t, documents)
	image := only[*appsv1.Deployment](t, all).Spec.Template.Spec.Containers[0].Image
	if !strings.Contains(page(t), "image="+image+"\n") {
		t.Errorf("Kustomize sets the image %s, Helm another", image)
	}
	for _, o := range all {
		if o.GetLabels()["release"] != "NAME" {
			t.Errorf("%s has no label: %v", o.GetName(), o.GetLabels())
		}
	}
}

func TestTheScrapeJobOfThePageIsRead(t *testing.T) {
	c, err := config.Load(file(t, "prometheus.yml"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if jobs, err := c.GetScrapeConfigs(); err != nil || len(jobs) != 1 || jobs[0].JobName != "leader-observer" {
		t.Errorf("%v, %v", jobs, err)
	}
	port := only[*appsv1.Deployment](t, objects(t, rendered(t, renderings["the base"]))).Spec.Template.Spec.Containers[0].Ports[0].Name
	if !strings.Contains(file(t, "prometheus.yml"), "regex: "+port+",") {
		t.Errorf("the port is %s", port)
	}
}
