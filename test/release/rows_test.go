package release

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

func TestEachLineOfTheReadmesTableCompiles(t *testing.T) {
	all, err := rows()
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, r := range all {
		if _, err := os.Stat(filepath.Join(root, r.folder)); err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
		if used[r.adapter()] {
			t.Errorf("%s has two lines", r.adapter())
		}
		used[r.adapter()] = true
		t.Run(r.adapter(), func(t *testing.T) {
			t.Parallel()
			text, err := program(r)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			vet := exec.Command("go", "vet", file)
			vet.Dir = ".." // the module that requires all of them
			if out, err := vet.CombinedOutput(); err != nil {
				t.Errorf("%s\n%v\n%s", r.line, err, out)
			}
		})
	}
	programs, err := os.ReadDir("testdata/programs")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		if !used[strings.TrimSuffix(p.Name(), ".go")] {
			t.Errorf("README.md has no line for testdata/programs/%s", p.Name())
		}
	}
}

func TestEachAdapterHasALineInTheReadme(t *testing.T) {
	all, err := rows()
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, r := range all {
		has[filepath.ToSlash(r.folder)] = true
	}
	for _, m := range listed(t) {
		if path.Dir(m.dir) == "instrument" && !has[m.dir] {
			t.Errorf("README.md has no line for %s", m.dir)
		}
		if _, err := os.Stat(filepath.Join(root, m.dir, "README.md")); path.Dir(m.dir) == "instrument" && err != nil {
			t.Errorf("%v; docs/adapters.md says what the page of an adapter has", err)
		}
	}
}
