package output

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var files = []File{{"a/b/one.yaml", []byte("one\n")}, {"two.json", []byte("two\n")}}

func TestWriteThenCheckFindsEverythingTheSame(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "out")
	found, err := Write(dir, files)
	if err != nil {
		t.Fatal(err)
	}
	want := []Finding{{"a/b/one.yaml", Missing, ""}, {"two.json", Missing, ""}}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("first run (-want +got):\n%s", diff)
	}
	found, err = Check(dir, files)
	if err != nil {
		t.Fatal(err)
	}
	want = []Finding{{"a/b/one.yaml", Same, ""}, {"two.json", Same, ""}}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("check (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a/b/one.yaml", "two.json"}, tree(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestCheckNamesWhatIsNotUpToDate(t *testing.T) {
	cases := map[string]struct {
		prepare func(t *testing.T, dir string)
		want    Finding
	}{
		"a byte changed":   {func(t *testing.T, dir string) { write(t, dir, "two.json", "twO\n") }, Finding{"two.json", Differs, ""}},
		"a file gone":      {func(t *testing.T, dir string) { remove(t, dir, "two.json") }, Finding{"two.json", Missing, ""}},
		"a directory":      {func(t *testing.T, dir string) { remove(t, dir, "two.json"); mkdir(t, dir, "two.json") }, Finding{"two.json", InTheWay, "two.json is a directory"}},
		"a link to a file": {func(t *testing.T, dir string) { remove(t, dir, "two.json"); link(t, dir, "a/b/one.yaml", "two.json") }, Finding{"two.json", InTheWay, "two.json is a link"}},
		"a file as parent": {func(t *testing.T, dir string) { remove(t, dir, "a"); write(t, dir, "a", "") }, Finding{"a/b/one.yaml", InTheWay, "a is not a directory"}},
		"a link that leaves": {func(t *testing.T, dir string) { remove(t, dir, "a"); link(t, dir, t.TempDir(), "a") },
			Finding{"a/b/one.yaml", InTheWay, "a is a link that leaves the directory"}},
		"a link to nothing": {func(t *testing.T, dir string) { remove(t, dir, "a"); link(t, dir, "gone", "a") },
			Finding{"a/b/one.yaml", InTheWay, "a is a link to nothing"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if _, err := Write(dir, files); err != nil {
				t.Fatal(err)
			}
			c.prepare(t, dir)
			before := tree(t, dir)
			found, err := Check(dir, files)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				if f.Path == c.want.Path {
					if diff := cmp.Diff(c.want, f); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				} else if f.State != Same {
					t.Errorf("%s: %s, want same", f.Path, f.State)
				}
			}
			_, err = Write(dir, files)
			if (err != nil) != (c.want.State == InTheWay) {
				t.Errorf("write: %v", err)
			}
			if c.want.State == InTheWay {
				if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
					t.Errorf("a refused write changed (-before +after):\n%s", diff)
				}
			}
		})
	}
}

func TestWriteLeavesUnchangedFilesAlone(t *testing.T) {
	dir := t.TempDir()
	if _, err := Write(dir, files); err != nil {
		t.Fatal(err)
	}
	before, _ := os.Stat(filepath.Join(dir, "two.json"))
	if _, err := Write(dir, files); err != nil {
		t.Fatal(err)
	}
	after, _ := os.Stat(filepath.Join(dir, "two.json"))
	if !os.SameFile(before, after) {
		t.Error("an unchanged file was replaced")
	}
}

func tree(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, p)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func write(t *testing.T, dir, name, data string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, dir, target, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}
