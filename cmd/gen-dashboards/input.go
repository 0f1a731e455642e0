package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// readFile reads a file of at most limit bytes, which may be a pipe: a device
// that never ends must not fill the memory.
func readFile(name string, limit int) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, cannotRead(name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, cannotRead(name, err)
	}
	if len(data) > limit {
		return nil, fmt.Errorf("%s: the file is larger than the maximum of %d bytes; check its name", name, limit)
	}
	return data, nil
}

// cannotRead says what to do about an error of the file system.
func cannotRead(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: the file does not exist; check its name, and the directory that it is relative to", name)
	case errors.Is(err, syscall.EISDIR):
		return fmt.Errorf("%s: is a directory; pass a file in it", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: no permission to read the file; change its mode or its owner", name)
	case errors.Is(err, syscall.ELOOP):
		return fmt.Errorf("%s: the symbolic link leads back to itself; pass a file", name)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s: a part of the path is a file, not a directory; check the path", name)
	}
	return err
}
