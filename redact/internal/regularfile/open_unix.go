//go:build unix

package regularfile

import (
	"os"
	"syscall"
)

// open does not wait for the writer of a named pipe and does not take a
// terminal as the controlling one.
func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
}
