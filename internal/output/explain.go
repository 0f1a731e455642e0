package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

var (
	errInterrupted = errors.New("interrupted; nothing was changed")
	errLocked      = errors.New("another run is writing to this directory; wait until it has finished")
)

// explain says what to do about an error of the file system on a directory.
func explain(dir string, err error) error {
	remedy := ""
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLocked):
		return fmt.Errorf("%s: %w", dir, err)
	case errors.Is(err, syscall.EROFS):
		remedy = "the file system is read-only; choose another directory"
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		remedy = "the disk is full; free some space, or choose another directory"
	case errors.Is(err, fs.ErrPermission):
		remedy = "permission denied; change the mode or the owner, or choose another directory"
	case errors.Is(err, syscall.ENAMETOOLONG):
		remedy = "a name is too long; choose another directory"
	default:
		obstacle := inTheWay(dir)
		if obstacle == "" {
			return err
		}
		remedy = obstacle + "; choose another directory"
	}
	return fmt.Errorf("%s: %s: %w", dir, remedy, err)
}

// inTheWay finds the part of a path that is no directory; empty when all are.
func inTheWay(dir string) string {
	for d := filepath.Clean(dir); d != filepath.Dir(d); d = filepath.Dir(d) {
		if _, err := os.Lstat(d); err != nil {
			continue
		}
		info, err := os.Stat(d)
		switch {
		case errors.Is(err, syscall.ELOOP):
			return d + " is a link that leads back to itself"
		case err != nil:
			return d + " is a link to nothing"
		case !info.IsDir():
			return d + " is a file, where a directory is needed"
		}
	}
	return ""
}
