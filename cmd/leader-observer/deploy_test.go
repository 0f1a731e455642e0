package main

import (
	"path/filepath"
	"testing"

	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/config"
)

// That the manifests are valid and grant the least is tested where Helm and
// Kustomize are linked: in test/deploy.
func TestTheManifestsHaveAConfigurationThatIsRead(t *testing.T) {
	files, err := filepath.Glob("deploy/*/observer.yaml")
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		if c, err := config.Read(file); err != nil || c.Listen != ":9713" || len(c.Kubernetes) != 1 {
			t.Errorf("%s: %+v, %v", file, c, err)
		}
	}
}
