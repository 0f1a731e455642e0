package release

import (
	"path"
	"strings"
	"testing"
)

func listed(t *testing.T) []module {
	t.Helper()
	all, err := modules()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// go get of a module needs a version of each other one that it requires; the
// replacements, which only this repository sees, make the versions be what is
// beside it.
func TestEachModuleRequiresTheComingVersionAndReplacesItHere(t *testing.T) {
	for _, m := range listed(t) {
		if got := m.file.Go.Version; got != "1.26.0" {
			t.Errorf("%s: go %s, want a minor release, 1.26.0", m.dir, got)
		}
		if m.file.Toolchain != nil {
			t.Errorf("%s names a toolchain", m.dir)
		}
		want := base
		if m.dir != "." {
			want += "/" + m.dir
		}
		if m.path() != want {
			t.Errorf("%s is called %s", m.dir, m.path())
		}
		replaced := map[string]bool{}
		for _, r := range m.file.Replace {
			if !strings.HasPrefix(r.Old.Path+"/", base+"/") || !strings.HasPrefix(r.New.Path, ".") {
				t.Errorf("%s replaces %s by %s, which is not done elsewhere", m.dir, r.Old.Path, r.New.Path)
			}
			replaced[r.Old.Path] = true
		}
		for _, r := range m.file.Require {
			if !strings.HasPrefix(r.Mod.Path+"/", base+"/") {
				continue
			}
			if r.Mod.Version != tag {
				t.Errorf("%s requires %s %s, want %s", m.dir, r.Mod.Path, r.Mod.Version, tag)
			}
			if replaced[r.Mod.Path] == m.command() {
				t.Errorf("%s: a replace of %s is %v; a command has none, for go run, and a library has one", m.dir, r.Mod.Path, replaced[r.Mod.Path])
			}
		}
		if m.command() && len(m.file.Replace) > 0 {
			t.Errorf("%s has a replace: go run %s@latest refuses it", m.dir, m.path())
		}
	}
}

// What is published requires nothing that is not.
func TestWhatIsPublishedRequiresNoTests(t *testing.T) {
	unpublished := map[string]bool{}
	for _, m := range listed(t) {
		unpublished[m.path()] = !m.published()
	}
	for _, m := range listed(t) {
		for _, r := range m.file.Require {
			if m.published() && unpublished[r.Mod.Path] {
				t.Errorf("%s requires %s", m.dir, r.Mod.Path)
			}
		}
	}
}

// What imports every adapter requires each, so that it builds without go.work.
func TestEachAdapterIsRequiredByExamplesAndTests(t *testing.T) {
	all := listed(t)
	for _, user := range all {
		if user.published() {
			continue
		}
		requires := map[string]bool{}
		for _, r := range user.file.Require {
			requires[r.Mod.Path] = !r.Indirect
		}
		for _, m := range all {
			if path.Dir(m.dir) == "instrument" && !requires[m.path()] {
				t.Errorf("%s/go.mod does not require %s: run in %[1]s: go mod edit -require=%[2]s@%s -replace=%[2]s=../%[4]s && GOWORK=off go mod tidy", user.dir, m.path(), tag, m.dir)
			}
		}
	}
}
