package output

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// endsAfter is a context that ends at a question of its own, so that a run can
// be interrupted at each place where it asks.
type endsAfter struct {
	context.Context
	questions int
}

func (c *endsAfter) Err() error {
	if c.questions--; c.questions < 0 {
		return context.Canceled
	}
	return nil
}

func TestAnInterruptionLeavesTheOldStateOrTheNew(t *testing.T) {
	next := []File{{"a/b/one.yaml", []byte("ONE\n")}, {"c/d/three.yaml", []byte("three\n")}, {"two.json", []byte("two\n")}}
	for name, prepare := range map[string]func(dir string){
		"over older files":           func(dir string) { mustWrite(t, dir, files) },
		"into an empty directory":    func(string) {},
		"into a directory not there": func(dir string) { remove(t, dir, ".") },
	} {
		t.Run(name, func(t *testing.T) {
			for questions := range 3 {
				dir := filepath.Join(t.TempDir(), "x", "y")
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				prepare(dir)
				before := everything(t, filepath.Dir(dir))
				_, err := Write(&endsAfter{t.Context(), questions}, dir, next)
				if err == nil {
					if questions != 1 {
						t.Errorf("asked %d times, want 1: before the first rename", questions)
					}
					if diff := cmp.Diff([]string{"a/b/one.yaml", "c/d/three.yaml", "two.json"}, names(t, dir)); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
					return
				}
				if !errors.Is(err, errInterrupted) || err.Error() != "interrupted; nothing was changed" {
					t.Errorf("got %v", err)
				}
				if diff := cmp.Diff(before, everything(t, filepath.Dir(dir))); diff != "" {
					t.Fatalf("after %d questions (-before +after):\n%s", questions, diff)
				}
			}
			t.Error("interrupted although the context had not ended")
		})
	}
}

func TestTheNextRunRemovesWhatAKilledOneLeft(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, dir, files)
	const random = ".ABCDEFGHIJKLMNOPQRSTUVW234.tmp"
	for _, name := range []string{".two.json" + random, "a/b/.one.yaml" + random} {
		write(t, dir, name, "half")
	}
	kept := []string{
		".another.json" + random, ".two.json.tmp", ".two.json.abcdefghijklmnopqrstuvwxyz.tmp", "a/b/.two.json" + random,
		".two.json" + random + "x", "two.json" + random, ".two.json.ABCDEFGHIJKLMNOPQRSTUVW2345.tmp",
	}
	for _, name := range kept {
		write(t, dir, name, "the reader's own")
	}
	mkdir(t, dir, ".two.json.ZBCDEFGHIJKLMNOPQRSTUVW234.tmp")
	link(t, dir, "two.json", ".two.json.YBCDEFGHIJKLMNOPQRSTUVW234.tmp")
	before := everything(t, dir)
	mustWrite(t, dir, files)
	delete(before, ".two.json"+random)
	delete(before, "a/b/.one.yaml"+random)
	if diff := cmp.Diff(before, everything(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAReplacedFileKeepsItsMode(t *testing.T) {
	for _, mode := range []fs.FileMode{0o600, 0o664, 0o400, 0o755} {
		dir := t.TempDir()
		mustWrite(t, dir, files)
		write(t, dir, "two.json", "old")
		if err := os.Chmod(filepath.Join(dir, "two.json"), mode); err != nil {
			t.Fatal(err)
		}
		mustWrite(t, dir, files)
		info, err := os.Stat(filepath.Join(dir, "two.json"))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != mode {
			t.Errorf("mode %o became %o", mode, info.Mode().Perm())
		}
		data, _ := os.ReadFile(filepath.Join(dir, "two.json"))
		if string(data) != "two\n" {
			t.Errorf("mode %o: the file was not replaced", mode)
		}
	}
}

func TestNewFilesAndDirectoriesHaveTheUsualModes(t *testing.T) {
	old := syscall.Umask(0o022)
	defer syscall.Umask(old)
	dir := filepath.Join(t.TempDir(), "new")
	mustWrite(t, dir, files)
	for name, want := range map[string]fs.FileMode{".": 0o755, "a": 0o755, "a/b": 0o755, "two.json": 0o644} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", name, info.Mode().Perm(), want)
		}
	}
}

func TestASecondRunAtOnceIsRefused(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	unlock, err := lock(root)
	if err != nil {
		t.Fatal(err)
	}
	want := dir + ": another run is writing to this directory; wait until it has finished"
	if _, err := Write(t.Context(), dir, files); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if found := names(t, dir); len(found) > 0 {
		t.Errorf("a refused run wrote %v", found)
	}
	unlock()
	mustWrite(t, dir, files)
}

func TestAFailedRenameSaysHowFarItCame(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, ".one", "new")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	s := staging{root: root, files: map[string]string{"one": ".one", "two": ".two"}}
	err = s.commit([]File{{Path: "zero"}, {Path: "one"}, {Path: "two"}})
	if err == nil || !strings.HasPrefix(err.Error(), "1 of 2 files were replaced; run the same command again: ") || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff([]string{"one"}, names(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.files = map[string]string{"two": ".two"}
	if err := s.commit([]File{{Path: "two"}}); err == nil || strings.Contains(err.Error(), "replaced") {
		t.Errorf("the first rename: got %v", err)
	}
	s.files = nil
}

func TestErrorsOfTheFileSystemSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		errno error
		want  string
	}{
		{syscall.EROFS, "out: the file system is read-only; choose another directory: mkdir x: read-only file system"},
		{syscall.ENOSPC, "out: the disk is full; free some space, or choose another directory: mkdir x: no space left on device"},
		{syscall.EDQUOT, "out: the disk is full; free some space, or choose another directory: mkdir x: disk quota exceeded"},
		{syscall.EACCES, "out: permission denied; change the mode or the owner, or choose another directory: mkdir x: permission denied"},
		{syscall.EPERM, "out: permission denied; change the mode or the owner, or choose another directory: mkdir x: operation not permitted"},
		{syscall.ENAMETOOLONG, "out: a name is too long; choose another directory: mkdir x: file name too long"},
		{syscall.EIO, "mkdir x: input/output error"},
		{nil, ""},
	} {
		var err error
		if c.errno != nil {
			err = &fs.PathError{Op: "mkdir", Path: "x", Err: c.errno}
		}
		got := ""
		if explained := explain("out", err); explained != nil {
			got = explained.Error()
			if !errors.Is(explained, c.errno) {
				t.Errorf("%v is lost", c.errno)
			}
		}
		if got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestADirectoryThatCannotBeIsExplained(t *testing.T) {
	base := t.TempDir()
	write(t, base, "file", "")
	link(t, base, "gone", "dangling")
	link(t, base, "loop", "loop")
	if got := explain("/", syscall.EIO); got != syscall.EIO {
		t.Errorf("the root: got %v", got)
	}
	for dir, want := range map[string]string{
		"file":      "/file is a file, where a directory is needed; choose another directory: ",
		"file/sub":  "/file is a file, where a directory is needed; choose another directory: ",
		"dangling":  "/dangling is a link to nothing; choose another directory: ",
		"loop":      "/loop is a link that leads back to itself; choose another directory: ",
		"loop/more": "/loop is a link that leads back to itself; choose another directory: ",
	} {
		dir = filepath.Join(base, dir)
		for what, err := range map[string]error{"write": second(Write(t.Context(), dir, files)), "check": second(Check(dir, files))} {
			if what == "check" && strings.HasSuffix(dir, "dangling") {
				continue // there is nothing, which is a finding and no error
			}
			op := map[string]string{"write": ": mkdir ", "check": ": open"}[what]
			if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), dir+": ") || !strings.Contains(err.Error(), op) {
				t.Errorf("%s %s: got %v, want %s", what, dir, err, want)
			}
		}
	}
	if diff := cmp.Diff([]string{"dangling", "file", "loop"}, names(t, base)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhatCannotBeRemovedIsReported(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "file", "")
	mkdir(t, dir, "full")
	write(t, dir, "full/file", "")
	for name, c := range map[string]struct {
		temporary string
		fails     bool
	}{"one that is there": {"file", false}, "one that was never made": {"none", false}, "one that is in use": {"full", true}} {
		s := staging{dir: dir}
		if err := s.open(); err != nil {
			t.Fatal(err)
		}
		s.files = map[string]string{"x": c.temporary}
		if err := s.undo(false); (err != nil) != c.fails {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "file")); err == nil {
		t.Error("the temporary file is still there")
	}
}

func TestARootThatIsGoneCannotBeLocked(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root.Close()
	if unlock, err := lock(root); err == nil || unlock != nil {
		t.Errorf("got %v", err)
	}
}

func second(_ []Finding, err error) error { return err }

// faulty is a tree whose n-th operation fails as on a disk that is full. Files
// that it opens cannot be written when n is reached there.
type faulty struct {
	tree
	left  int
	names []string // of the operations
}

func (f *faulty) fails(op, name string) error {
	f.names = append(f.names, op)
	if f.left--; f.left == 0 {
		return &fs.PathError{Op: op, Path: name, Err: syscall.ENOSPC}
	}
	return nil
}

func (f *faulty) Stat(name string) (fs.FileInfo, error) {
	if err := f.fails("stat", name); err != nil {
		return nil, err
	}
	return f.tree.Stat(name)
}

func (f *faulty) Lstat(name string) (fs.FileInfo, error) {
	if err := f.fails("lstat", name); err != nil {
		return nil, err
	}
	return f.tree.Lstat(name)
}

func (f *faulty) ReadFile(name string) ([]byte, error) {
	if err := f.fails("read", name); err != nil {
		return nil, err
	}
	return f.tree.ReadFile(name)
}

func (f *faulty) OpenFile(name string, flag int, mode fs.FileMode) (*os.File, error) {
	if err := f.fails("open", name); err != nil {
		return nil, err
	}
	file, err := f.tree.OpenFile(name, flag, mode)
	if err == nil && f.fails("write", name) != nil {
		file.Close() // which fails every use of it
	}
	return file, err
}

func (f *faulty) Mkdir(name string, mode fs.FileMode) error {
	if err := f.fails("mkdir", name); err != nil {
		return err
	}
	return f.tree.Mkdir(name, mode)
}

func (f *faulty) Chmod(name string, mode fs.FileMode) error {
	if err := f.fails("chmod", name); err != nil {
		return err
	}
	return f.tree.Chmod(name, mode)
}

func (f *faulty) Rename(from, to string) error {
	if err := f.fails("rename", from); err != nil {
		return err
	}
	return f.tree.Rename(from, to)
}

func (f *faulty) Remove(name string) error {
	if err := f.fails("remove", name); err != nil {
		return err
	}
	return f.tree.Remove(name)
}

func (f *faulty) FS() fs.FS { return faultyFS{f, f.tree.FS()} }

func (f *faulty) Close() error { return errors.Join(f.fails("close", "."), f.tree.Close()) }

type faultyFS struct {
	*faulty
	fs.FS
}

func (f faultyFS) Open(name string) (fs.File, error) {
	if err := f.fails("list", name); err != nil {
		return nil, err
	}
	return f.FS.Open(name)
}

// Whichever operation fails, the error is reported, and before the first
// rename nothing has changed.
func TestAFullDiskLeavesTheOldState(t *testing.T) {
	old := []File{{"a/one.yaml", []byte("one\n")}, {"two.json", []byte("two\n")}, {"same", []byte("same\n")}}
	next := []File{{"a/one.yaml", []byte("ONE\n")}, {"b/c/three", []byte("three\n")}, {"two.json", []byte("TWO\n")}, {"same", []byte("same\n")}}
	failed := map[string]int{}
	for n := 1; n < 100; n++ {
		dir := t.TempDir()
		mustWrite(t, dir, old)
		write(t, dir, ".two.json.ABCDEFGHIJKLMNOPQRSTUVW234.tmp", "left")
		before := everything(t, dir)
		s := staging{dir: dir}
		if err := s.open(); err != nil {
			t.Fatal(err)
		}
		disk := &faulty{tree: s.root, left: n}
		s.root = disk
		_, err := s.run(t.Context(), next)
		err = errors.Join(err, s.undo(err != nil))
		if disk.left > 0 {
			if err != nil {
				t.Errorf("without a fault: %v", err)
			}
			break
		}
		op := disk.names[n-1]
		failed[op]++
		what := fmt.Sprintf("operation %d, %s", n, op)
		after := everything(t, dir)
		delete(before, ".two.json.ABCDEFGHIJKLMNOPQRSTUVW234.tmp")
		delete(after, ".two.json.ABCDEFGHIJKLMNOPQRSTUVW234.tmp")
		if err == nil || !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s: got %v", what, err)
		}
		if op == "close" || op == "rename" && strings.Contains(err.Error(), "were replaced") {
			continue
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%s (-before +after):\n%s", what, diff)
		}
	}
	for _, op := range []string{"stat", "lstat", "read", "open", "write", "mkdir", "chmod", "rename", "remove", "list", "close"} {
		if failed[op] == 0 {
			t.Errorf("no %s failed", op)
		}
	}
}
