package release

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var compatible = regexp.MustCompile("(?m)^\\| (core,[^|]*|`[a-z0-9/]+`) \\| (\\S+) \\| (v\\S+) \\| v\\S+ \\|$")

// The page names the lowest version of a library, and its go.mod requires it.
func TestTheCompatibilityPageHasTheVersionsOfEachGoMod(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/compatibility.md"))
	if err != nil {
		t.Fatal(err)
	}
	lowest := map[string]map[string]string{} // by folder and library
	for _, m := range listed(t) {
		lowest[m.dir] = map[string]string{}
		for _, r := range m.file.Require {
			lowest[m.dir][r.Mod.Path] = r.Mod.Version
		}
	}
	named := map[string]bool{}
	for _, row := range compatible.FindAllStringSubmatch(string(text), -1) {
		dir, library, version := strings.Trim(row[1], "`"), row[2], row[3]
		if strings.HasPrefix(dir, "core,") {
			dir = "."
		}
		named[dir] = true
		if got := lowest[dir][library]; got != version {
			t.Errorf("%s requires %s %s, the page says %s", dir, library, got, version)
		}
	}
	for dir := range lowest {
		if strings.HasPrefix(dir, "instrument/") && !named[dir] {
			t.Errorf("the page has no row for %s", dir)
		}
	}
}
