package release

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/licenseclassifier/v2/assets"
)

// allowed are the licences of what may be linked, by their SPDX names.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0", "Unlicense", "CC0-1.0", "0BSD"}

// copyleft are the modules under a licence that wants a word in the README of
// who links them.
const copyleft = "MPL-2.0"

// linked lists the modules that the packages of a module link, with the
// folders of their sources.
func linked(t *testing.T, m module) map[string]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=Module", "./...")
	cmd.Dir = filepath.Join(root, m.dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list in %s: %v", m.dir, err)
	}
	found := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			Module *struct {
				Path, Dir string
				Main      bool
			}
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Module != nil && !p.Module.Main && !strings.HasPrefix(p.Module.Path+"/", base+"/") {
			found[p.Module.Path] = p.Module.Dir
		}
	}
}

// classifier knows the texts of licences; loading them takes seconds.
var classifier = sync.OnceValues(assets.DefaultClassifier)

// licences are the names of the licences in the files of a folder that are
// named like one. Where none has the text of a licence, a notice that names one
// will do.
func licences(t *testing.T, dir string) (names []string) {
	t.Helper()
	var notices []string
	known, err := classifier()
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := strings.ToUpper(f.Name())
		if f.IsDir() || !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") && !strings.HasPrefix(name, "UNLICENSE") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range known.Match(text).Matches {
			switch match.MatchType {
			case "License":
				names = append(names, match.Name)
			case "Header":
				notices = append(notices, match.Name)
			}
		}
	}
	if len(names) == 0 {
		names = notices
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestWhatIsLinkedHasALicenceThatUsersCanLiveWith(t *testing.T) {
	seen := map[string][]string{}
	for _, m := range listed(t) {
		if !m.published() {
			continue
		}
		var weak []string
		for path, dir := range linked(t, m) {
			names, known := seen[path]
			if !known {
				names = licences(t, dir)
				seen[path] = names
				if len(names) == 0 {
					t.Errorf("%s: no licence was recognised in %s", path, dir)
				}
				for _, name := range names {
					if !slices.Contains(allowed, name) {
						t.Errorf("%s is under %s, which is not among %v", path, name, allowed)
					}
				}
			}
			if slices.Contains(names, copyleft) {
				weak = append(weak, path)
			}
		}
		if len(weak) > 0 {
			readme, err := os.ReadFile(filepath.Join(root, m.dir, "README.md"))
			if err != nil || !strings.Contains(string(readme), copyleft) {
				t.Errorf("%s links %v, which are under %s; its README.md has to say so (%v)", m.dir, weak, copyleft, err)
			}
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d linked modules were found", len(seen))
	}
}
