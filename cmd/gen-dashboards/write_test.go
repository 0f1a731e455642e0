package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// full is an output on a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// A script that stores the output must not continue with half of it.
func TestAnOutputThatCannotBeWrittenFailsTheRun(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	label := []string{"label", "--key-file", file("key", "0123456789abcdef0123456789abcdef"), "--key-id", "k1"}
	for name, args := range map[string][]string{
		"config":        {"config"},
		"detect":        {"detect"},
		"sources":       {"sources"},
		"aliases":       {"aliases", file("aliases.yaml", "k1:937c429ef80d3ee9: billing\n")},
		"label":         append(label, "x"),
		"label as JSON": append(label[:len(label):len(label)], "--output", "json", "x"),
	} {
		var stderr strings.Builder
		if code := run(args, full{}, &stderr); code != exitFailed || !strings.HasSuffix(stderr.String(), "no space left on device\n") {
			t.Errorf("%s: exit code %d, printed %q", name, code, &stderr)
		}
	}
}

func TestAnErrorOfTheFileSystemSaysWhatToDo(t *testing.T) {
	other := errors.New("input/output error")
	for err, want := range map[error]string{
		fs.ErrPermission: "f: no permission to read the file; change its mode or its owner",
		other:            "input/output error",
	} {
		if got := cannotRead("f", err).Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
