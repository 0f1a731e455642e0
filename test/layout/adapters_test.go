package layout

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// libraries are what the adapters are for: no program links one of them without
// importing its adapter.
var libraries = map[string]string{ // adapter: its library
	"consullock":      "github.com/hashicorp/consul/",
	"ctrllease":       "sigs.k8s.io/controller-runtime/",
	"dynamolocklead":  "cirello.io/dynamolock/",
	"etcdlock":        "go.etcd.io/etcd/",
	"gocronlead":      "github.com/go-co-op/gocron/",
	"k8slease":        "k8s.io/",
	"natskv":          "github.com/nats-io/",
	"pglocklead":      "cirello.io/pglock",
	"raftlead":        "github.com/hashicorp/raft",
	"redislocklead":   "github.com/bsm/redislock",
	"redsynclead":     "github.com/go-redsync/redsync/",
	"riverlead":       "github.com/riverqueue/river",
	"rueidislocklead": "github.com/redis/rueidis",
	"zklock":          "github.com/go-zookeeper/zk",
}

// below are adapters that another is made of.
var below = map[string]string{"ctrllease": "k8slease"}

// adapters lists the folders of instrument that are modules with a library.
func adapters(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../instrument/*/go.mod")
	if err != nil || len(files) == 0 {
		t.Fatalf("no adapters found: %v", err)
	}
	var names []string
	for _, file := range files {
		names = append(names, filepath.Base(filepath.Dir(file)))
	}
	return names
}

func TestNoAdapterLinksAnotherOrItsLibrary(t *testing.T) {
	for _, adapter := range adapters(t) {
		t.Run(adapter, func(t *testing.T) {
			own, known := libraries[adapter]
			if !known {
				t.Fatalf("adapter %s is not in libraries, in test/layout/adapters_test.go: name the library that it is for", adapter)
			}
			linked := moduleDeps(t, filepath.Join("../../instrument", adapter))
			usesOwn := false
			for _, p := range linked {
				usesOwn = usesOwn || strings.HasPrefix(p, own)
				for other, library := range libraries {
					if other != adapter && other != below[adapter] && (p == module+"instrument/"+other || strings.HasPrefix(p, library)) {
						t.Errorf("%s links %s, which is for %s", adapter, p, other)
					}
				}
			}
			if !usesOwn {
				t.Errorf("%s does not link %s: the table of this test is wrong", adapter, own)
			}
		})
	}
}

// moduleDeps lists what the package in that folder links, by its own module.
func moduleDeps(t *testing.T, dir string) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", ".")
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list -deps in %s: %v", dir, err)
	}
	return strings.Fields(string(out))
}

func TestTheRootModuleRequiresNoAdapterAndNoneOfTheirLibraries(t *testing.T) {
	out, err := exec.Command("go", "mod", "edit", "-json", "../../go.mod").Output()
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Require []struct{ Path string } }
	if err := json.Unmarshal(out, &file); err != nil {
		t.Fatal(err)
	}
	for _, required := range file.Require {
		for adapter, library := range libraries {
			if required.Path == module+"instrument/"+adapter || strings.HasPrefix(required.Path+"/", library) {
				t.Errorf("the root module requires %s, which is for %s", required.Path, adapter)
			}
		}
	}
}
