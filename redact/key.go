package redact

import (
	"bytes"
	"fmt"
	"os"
)

// ReadKeyFile reads a hash key: the bytes of the file, one trailing newline
// left out. A file that others can read, or that is too short, is an error
// that names the file and the remedy, never the key.
func ReadKeyFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	if mode := info.Mode().Perm(); mode&0o007 != 0 {
		return nil, fmt.Errorf("%w: file %s has mode %04o, others can use it; run: chmod o= %s", ErrKey, path, mode, path)
	}
	key, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	key = bytes.TrimSuffix(bytes.TrimSuffix(key, []byte("\n")), []byte("\r"))
	if len(key) < MinKeySize {
		return nil, fmt.Errorf("%w: file %s holds %d bytes, want at least %d; make one with: openssl rand -hex 32", ErrKey, path, len(key), MinKeySize)
	}
	return key, nil
}
