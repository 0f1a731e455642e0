package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/discovery"
	"github.com/prometheus/prometheus/discovery/file"
)

func TestPrometheusConfigurationNamesTargetsAndRules(t *testing.T) {
	cfg, err := config.Load(prometheusYAML("/tmp/rules.yml", "/tmp/targets.json"), promslog.NewNopLogger())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/tmp/rules.yml"}, cfg.RuleFiles); diff != "" {
		t.Error(diff)
	}
	got := map[string][]string{}
	for _, job := range cfg.ScrapeConfigs {
		got[job.JobName] = job.ServiceDiscoveryConfigs[0].(*file.SDConfig).Files
	}
	if diff := cmp.Diff(map[string][]string{"quickstart": {"/tmp/targets.json"}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheObserverHasEachJobWithoutTargets(t *testing.T) {
	cfg, err := config.Load(prometheusYAML("/tmp/rules.yml", ""), promslog.NewNopLogger())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, job := range cfg.ScrapeConfigs {
		for _, group := range job.ServiceDiscoveryConfigs[0].(discovery.StaticConfig) {
			got[job.JobName] += len(group.Targets)
		}
	}
	if diff := cmp.Diff(map[string]int{"quickstart": 0, "leader-observer": 0, "store": 0}, got); diff != "" {
		t.Error(diff)
	}
}

func TestTargetsForServiceDiscovery(t *testing.T) {
	for name, c := range map[string]struct {
		replicas, others map[string]string
		want             string
	}{
		"replicas and other programs, each with its job": {
			map[string]string{"replica-2": "127.0.0.1:2", "replica-1": "127.0.0.1:1"}, map[string]string{storeName: "127.0.0.1:4"},
			`[
  {
    "targets": [
      "127.0.0.1:1"
    ],
    "labels": {
      "instance": "replica-1",
      "job": "quickstart"
    }
  },
  {
    "targets": [
      "127.0.0.1:2"
    ],
    "labels": {
      "instance": "replica-2",
      "job": "quickstart"
    }
  },
  {
    "targets": [
      "127.0.0.1:4"
    ],
    "labels": {
      "instance": "store",
      "job": "store"
    }
  }
]
`},
		"a service without replicas": {nil, nil, "[]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, string(targetsJSON(c.replicas, c.others))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAFileIsReplacedWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	for _, content := range []string{"one", "two"} {
		if err := writeWhole(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if err != nil || string(got) != content {
			t.Errorf("%q, %v, want %q", got, err, content)
		}
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	// Nothing can replace a folder that is not empty.
	if err := os.MkdirAll(filepath.Join(dir, "folder", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := writeWhole(filepath.Join(dir, "folder"), []byte("three"), 0o600); err == nil {
		t.Error("it replaced a folder")
	}
	if err := writeWhole(filepath.Join(dir, "absent", "f"), nil, 0o600); err == nil {
		t.Error("it wrote to a folder that is not there")
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

func TestAReportThatCannotBeWrittenIsAnErrorBeforeTheDemo(t *testing.T) {
	dir := t.TempDir()
	for file, want := range map[string]string{
		"":                              "",
		filepath.Join(dir, "r.html"):    "",
		filepath.Join(dir, "x", "r.ht"): "name a file in a folder that can be written to, or leave the name empty",
	} {
		err := canWrite(file)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", file, err, want)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}
