package output

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var files = []File{{"a/b/one.yaml", []byte("one\n")}, {"two.json", []byte("two\n")}}

func TestWriteThenCheckFindsEverythingTheSame(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "out")
	found, err := Write(t.Context(), dir, files)
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
	if diff := cmp.Diff([]string{"a/b/one.yaml", "two.json"}, names(t, dir)); diff != "" {
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
		"a pipe": {func(t *testing.T, dir string) {
			remove(t, dir, "two.json")
			if err := syscall.Mkfifo(filepath.Join(dir, "two.json"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, Finding{"two.json", InTheWay, "two.json is not a regular file"}},
		"a file as parent": {func(t *testing.T, dir string) { remove(t, dir, "a"); write(t, dir, "a", "") }, Finding{"a/b/one.yaml", InTheWay, "a is not a directory"}},
		"a link that leaves": {func(t *testing.T, dir string) { remove(t, dir, "a"); link(t, dir, t.TempDir(), "a") },
			Finding{"a/b/one.yaml", InTheWay, "a is a link that leaves the directory"}},
		"a link to nothing": {func(t *testing.T, dir string) { remove(t, dir, "a"); link(t, dir, "gone", "a") },
			Finding{"a/b/one.yaml", InTheWay, "a is a link to nothing"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if _, err := Write(t.Context(), dir, files); err != nil {
				t.Fatal(err)
			}
			c.prepare(t, dir)
			before := names(t, dir)
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
			_, err = Write(t.Context(), dir, files)
			if c.want.State != InTheWay {
				if err != nil {
					t.Errorf("write: %v", err)
				}
			} else if want := "cannot write " + c.want.Path + ": " + c.want.Detail + "; move it away, or choose another directory"; err == nil || err.Error() != want {
				t.Errorf("write: got %v, want %s", err, want)
			}
			if c.want.State == InTheWay {
				if diff := cmp.Diff(before, names(t, dir)); diff != "" {
					t.Errorf("a refused write changed (-before +after):\n%s", diff)
				}
			}
		})
	}
}

func TestADirectoryThatIsNotThereHasNoFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there")
	found, err := Check(dir, files)
	if err != nil {
		t.Fatal(err)
	}
	want := []Finding{{"a/b/one.yaml", Missing, ""}, {"two.json", Missing, ""}}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := os.Lstat(dir); err == nil {
		t.Error("a check made the directory")
	}
}

func TestCheckReportsWhatItCannotRead(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{strings.Repeat("x", 300), strings.Repeat("x", 300) + "/y"} {
		found, err := Check(dir, []File{{path, nil}})
		if err == nil || !strings.HasPrefix(err.Error(), dir+": a name is too long; choose another directory: ") || found != nil {
			t.Errorf("got %v, %v", found, err)
		}
	}
}

func TestNoDirectoryStaysOpen(t *testing.T) {
	dir := t.TempDir()
	open := func() int {
		entries, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	mustWrite(t, dir, files)
	before := open()
	for range 20 {
		mustWrite(t, dir, files)
		if _, err := Check(dir, files); err != nil {
			t.Fatal(err)
		}
	}
	if after := open(); after >= before+20 {
		t.Errorf("%d descriptors became %d", before, after)
	}
}

func TestWriteLeavesUnchangedFilesAlone(t *testing.T) {
	dir := t.TempDir()
	if _, err := Write(t.Context(), dir, files); err != nil {
		t.Fatal(err)
	}
	before, _ := os.Stat(filepath.Join(dir, "two.json"))
	if _, err := Write(t.Context(), dir, files); err != nil {
		t.Fatal(err)
	}
	after, _ := os.Stat(filepath.Join(dir, "two.json"))
	if !os.SameFile(before, after) {
		t.Error("an unchanged file was replaced")
	}
}

func mustWrite(t *testing.T, dir string, files []File) {
	t.Helper()
	if _, err := Write(t.Context(), dir, files); err != nil {
		t.Fatal(err)
	}
}

// everything is what is below a directory, directories and their modes too.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		found[filepath.ToSlash(rel)] = info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(p)
			found[filepath.ToSlash(rel)] += " " + string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func names(t *testing.T, dir string) []string {
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
