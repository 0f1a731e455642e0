package regularfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAFileWithinTheLimitIsReadWhole(t *testing.T) {
	for _, text := range []string{"", "a", "four"} {
		data, mode, err := Read(write(t, "f", text), 4)
		if err != nil || string(data) != text || !mode.IsRegular() {
			t.Errorf("text %q: data %q, mode %v, error %v", text, data, mode, err)
		}
	}
}

func TestLinksAreFollowedAsInASecretVolume(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "..2026_01_01"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "..2026_01_01", "key"), []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"..data": "..2026_01_01", "key": filepath.Join("..data", "key")} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	data, _, err := Read(filepath.Join(dir, "key"), 100)
	if err != nil || string(data) != "content" {
		t.Errorf("data %q, error %v", data, err)
	}
}

func TestWhatCannotBeReadIsOneErrorThatNamesThePathOnly(t *testing.T) {
	large, directory := write(t, "large", "secret"), t.TempDir()
	missing := filepath.Join(directory, "missing")
	cases := map[string]struct {
		path, want string
		limit      int
	}{
		"larger than the limit": {large, large + " is larger than 5 bytes", 5},
		"a directory":           {directory, directory + " is a directory; give the path of a file in it", 5},
		"a device":              {os.DevNull, os.DevNull + " is a device; give the path of a regular file", 5},
		"no path":               {"", "the path is empty", 5},
		"a missing file":        {missing, missing, 5},
		"a path with a NUL":     {"a\x00b", "invalid", 5},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			data, _, err := Read(c.path, c.limit)
			if err == nil || !strings.Contains(err.Error(), c.want) || data != nil {
				t.Fatalf("data %q, error %v, want an error that says %q", data, err, c.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows the content: %v", err)
			}
		})
	}
	if _, _, err := Read(missing, 5); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file is %v", err)
	}
}

// Between the two checks another file may take the path, or none.
func TestTheFileThatWasOpenedIsCheckedToo(t *testing.T) {
	path, directory, missing := write(t, "f", "four"), t.TempDir(), filepath.Join(t.TempDir(), "missing")
	cases := map[string]struct {
		open func(string) (*os.File, error)
		want string
	}{
		"the same file":       {os.Open, ""},
		"it is gone":          {func(string) (*os.File, error) { return os.Open(missing) }, missing},
		"a directory now":     {func(string) (*os.File, error) { return os.Open(directory) }, path + " is a directory; give the path of a file in it"},
		"a device now":        {func(string) (*os.File, error) { return os.Open(os.DevNull) }, path + " is a device; give the path of a regular file"},
		"nothing can be read": {func(string) (*os.File, error) { return os.OpenFile(path, os.O_WRONLY, 0) }, "read " + path},
		"nothing is known of it": {func(string) (*os.File, error) {
			f, err := os.Open(path)
			return f, errors.Join(err, f.Close())
		}, "stat " + path},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var opened *os.File
			data, mode, err := read(path, 10, func(path string) (f *os.File, err error) {
				opened, err = c.open(path)
				return opened, err
			})
			if c.want == "" {
				if err != nil || string(data) != "four" || !mode.IsRegular() {
					t.Errorf("data %q, mode %v, error %v", data, mode, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), c.want) || data != nil {
				t.Errorf("data %q, error %v, want %q", data, err, c.want)
			}
			if opened == nil {
				return
			}
			if _, err := opened.Stat(); !errors.Is(err, os.ErrClosed) {
				t.Errorf("the file is left open: %v", err)
			}
		})
	}
}

func TestTheModeIsThatOfTheFile(t *testing.T) {
	path := write(t, "f", "four")
	for _, mode := range []fs.FileMode{0o400, 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, got, err := Read(path, 10); err != nil || got != mode {
			t.Errorf("mode %v, want %v; error %v", got, mode, err)
		}
	}
}

func TestAFileOfAnUnknownKindIsRefused(t *testing.T) {
	want := "f is a special file; give the path of a regular file"
	if err := mustBeRegular("f", fs.ModeIrregular); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
