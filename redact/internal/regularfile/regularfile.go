// Package regularfile reads small regular files, such as a key or a rules
// file. It never waits for a writer and never reads more than a limit. What
// the bytes mean is the business of its callers.
package regularfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Read returns the bytes of a regular file of at most limit bytes, and the
// mode of the file that was read. Symbolic links are followed. A directory, a
// named pipe, a device or a socket is an error, and so is a larger file. The
// errors name the path and never show the content; those of the operating
// system are wrapped.
//
// Safe for concurrent use.
func Read(path string, limit int) ([]byte, fs.FileMode, error) { return read(path, limit, open) }

func read(path string, limit int, open func(path string) (*os.File, error)) ([]byte, fs.FileMode, error) {
	if path == "" {
		return nil, 0, errors.New("the path is empty")
	}
	// The first check keeps devices closed, since opening some of them has
	// effects. The second one is about the file that was opened, which may be
	// another by then.
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if err := mustBeRegular(path, info.Mode()); err != nil {
		return nil, 0, err
	}
	file, err := open(path)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil {
		return nil, 0, err
	}
	if err := mustBeRegular(path, info.Mode()); err != nil {
		return nil, 0, err
	}
	data, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	if err != nil {
		return nil, 0, err
	}
	if len(data) > limit {
		return nil, 0, fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return data, info.Mode(), nil
}

func mustBeRegular(path string, mode fs.FileMode) error {
	kind := ""
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return fmt.Errorf("%s is a directory; give the path of a file in it", path)
	case mode&fs.ModeNamedPipe != 0:
		kind = "named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "socket"
	case mode&fs.ModeDevice != 0:
		kind = "device"
	default:
		kind = "special file"
	}
	return fmt.Errorf("%s is a %s; give the path of a regular file", path, kind)
}
