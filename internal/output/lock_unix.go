//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package output

import (
	"errors"
	"os"
	"syscall"
)

// lock refuses concurrent runs on a directory. On file systems without locks, it does
// nothing.
func lock(root *os.Root) (unlock func(), err error) {
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errors.Join(errLocked, f.Close())
	}
	return func() { _ = f.Close() }, nil
}
