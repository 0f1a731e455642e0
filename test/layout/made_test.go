package layout

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// made says what of a file was made by a program and does not belong into the
// repository; "" for any other file.
func made(name string, head []byte) string {
	switch {
	case path.Base(path.Dir(path.Dir(name))) == "rapid":
		return "the record of a property test that failed"
	case bytes.HasPrefix(head, []byte("\x7fELF")), bytes.HasPrefix(head, []byte("\xcf\xfa\xed\xfe")), bytes.HasPrefix(head, []byte("MZ")):
		return "a program"
	case strings.HasSuffix(name, ".test"), strings.HasSuffix(name, ".prof"):
		return "left by go test"
	}
	return ""
}

func TestWhatIsMadeIsNotCommitted(t *testing.T) {
	out, err := exec.Command("git", "-C", "../..", "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("SKIPPED: not a git checkout: %v", err)
	}
	files := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	if len(files) < 100 {
		t.Fatalf("git lists %d files", len(files))
	}
	for _, name := range files {
		f, err := os.Open(filepath.Join("../..", name))
		if os.IsNotExist(err) {
			continue // removed and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		head := make([]byte, 4)
		n, err := io.ReadFull(f, head)
		_ = f.Close()
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			continue // a link to a folder
		}
		if what := made(name, head[:n]); what != "" {
			t.Errorf("%s is %s: git rm --cached %[1]s, and add it to .gitignore", name, what)
		}
	}
}

func TestWhatIsMadeIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		head string
		want string
	}{
		"instrument/testdata/rapid/TestX/TestX-1.fail": {"# 20", "the record of a property test that failed"},
		"cmd/gen-dashboards/gen-dashboards":            {"\x7fELF", "a program"},
		"bin/tool.exe":                                 {"MZ\x90\x00", "a program"},
		"alerts/alerts.test":                           {"", "left by go test"},
		"docs/images/overview.png":                     {"\x89PNG", ""},
		"README.md":                                    {"# le", ""},
	} {
		if got := made(name, []byte(c.head)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
