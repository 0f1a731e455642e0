//go:build unix && !aix && !illumos && !solaris

package regularfile

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// within fails the test instead of hanging it when read does not return.
func within(t *testing.T, read func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- read() }()
	select {
	case err := <-done:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("the read does not return")
		return nil
	}
}

func TestSpecialFilesAreRefusedWithoutWaiting(t *testing.T) {
	dir := t.TempDir()
	pipe, socket, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "socket"), filepath.Join(dir, "link")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for path, kind := range map[string]string{pipe: "named pipe", link: "named pipe", socket: "socket", "/dev/zero": "device"} {
		err := within(t, func() error { _, _, err := Read(path, 10); return err })
		if want := path + " is a " + kind + "; give the path of a regular file"; err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// A file may be replaced by a pipe between the two checks; opening it must
// not wait either.
func TestOpeningAPipeDoesNotWaitForItsWriter(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	err := within(t, func() error {
		f, err := open(pipe)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		return mustBeRegular(pipe, info.Mode())
	})
	if err == nil || !strings.Contains(err.Error(), "named pipe") {
		t.Errorf("error %v", err)
	}
}

// Files of /proc report a size of 0 and may have no end.
func TestTheReportedSizeIsNotTrusted(t *testing.T) {
	const path = "/proc/self/smaps"
	if _, err := os.Stat(path); err != nil {
		t.Skip("no such file here:", err)
	}
	err := within(t, func() error { _, _, err := Read(path, 100); return err })
	if err == nil || !strings.Contains(err.Error(), "larger than 100 bytes") {
		t.Errorf("error %v", err)
	}
}
