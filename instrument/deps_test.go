package instrument_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const room = "github.com/leaderscope/leaderscope/instrument"

// list runs go list in this folder.
func list(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list %v: %v", args, err)
	}
	return strings.Fields(string(out))
}

// styles are the packages of this module beside the core: for one library or
// for one style of electing.
func styles(t *testing.T) []string {
	t.Helper()
	var beside []string
	for _, p := range list(t, "./...") {
		inner := strings.TrimPrefix(p, room+"/")
		if inner != p && inner != "catalog" && !strings.HasPrefix(inner, "electtest") && !strings.HasPrefix(inner, "internal/") {
			beside = append(beside, p)
		}
	}
	if len(beside) == 0 {
		t.Fatal("no package beside the core")
	}
	return beside
}

func TestTheCoreLinksNoDatabaseAndNoPackageBesideIt(t *testing.T) {
	beside := styles(t)
	for _, p := range list(t, "-deps", ".") {
		if p == "database/sql" { // its driver package has the error of a broken connection
			t.Errorf("the core links %s", p)
		}
		for _, b := range append(beside, room+"/electtest") {
			if p == b {
				t.Errorf("the core links %s", p)
			}
		}
	}
}

func TestPackagesBesideTheCoreNeedItsPublicAPIAlone(t *testing.T) {
	for _, p := range styles(t) {
		for _, imported := range list(t, "-f", `{{join .Imports "\n"}}`, p) {
			ours := strings.HasPrefix(imported, room) || !strings.Contains(strings.Split(imported, "/")[0], ".")
			if !ours {
				t.Errorf("%s imports %s, which is no part of the standard library", p, imported)
			}
			if strings.HasPrefix(imported, room+"/internal") || strings.HasPrefix(imported, filepath.Dir(room)+"/internal") {
				t.Errorf("%s imports %s, which no adapter elsewhere can", p, imported)
			}
		}
	}
}
