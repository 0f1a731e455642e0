package redact

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
)

// MinKeySize is the least number of bytes of a hash key.
const MinKeySize = sha256.Size

// maxKeySize bounds what is read of a key file that is something else.
const maxKeySize = 1 << 16

// ErrKey is wrapped by every error about a key. The key is never in the text.
var ErrKey = errors.New("leaderscope: hash key")

// ReadKeyFile reads a hash key: the bytes of the file, one trailing newline
// left out. A file that others can read, or that is too short, is an error
// that names the file and the remedy, never the key.
func ReadKeyFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	if mode := info.Mode().Perm(); mode&0o007 != 0 && runtime.GOOS != "windows" { // where the bits say nothing
		return nil, fmt.Errorf("%w: file %s has mode %04o, others can use it; run: chmod o= %s", ErrKey, path, mode, path)
	}
	key, err := io.ReadAll(io.LimitReader(file, maxKeySize+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	return checkedKey(key, "file "+path)
}

// KeyFromEnv takes a hash key from an environment variable, one trailing
// newline left out. A variable that is not set, or too short, is an error that
// names the variable and the remedy, never the key. Other processes of the
// same user can read it; a file is the better place.
func KeyFromEnv(variable string) ([]byte, error) {
	value, ok := os.LookupEnv(variable)
	if !ok {
		return nil, fmt.Errorf("%w: environment variable %s is not set", ErrKey, variable)
	}
	return checkedKey([]byte(value), "environment variable "+variable)
}

func checkedKey(key []byte, from string) ([]byte, error) {
	key = bytes.TrimSuffix(bytes.TrimSuffix(key, []byte("\n")), []byte("\r"))
	switch {
	case len(key) < MinKeySize:
		return nil, fmt.Errorf("%w: %s holds %d bytes, want at least %d; make one with: openssl rand -hex 32", ErrKey, from, len(key), MinKeySize)
	case len(key) > maxKeySize:
		return nil, fmt.Errorf("%w: %s holds more than %d bytes, this is no key", ErrKey, from, maxKeySize)
	}
	return key, nil
}

// pseudonyms makes the labels of one key. What is derived from the key is
// within the closure, where no printer that walks through fields finds it.
type pseudonyms struct {
	id, check string
	sum       func(name string) [sha256.Size]byte
}

func newPseudonyms(key []byte, id string) (*pseudonyms, error) {
	if len(key) < MinKeySize {
		return nil, fmt.Errorf("%w: %d bytes, want at least %d; make one with: openssl rand -hex 32", ErrKey, len(key), MinKeySize)
	}
	if !validKeyID(id) { // not shown, since it may be the key in the wrong place
		return nil, fmt.Errorf("%w: its id has %d bytes or other characters, want 1 to 16 letters, digits, '-' or '_'", ErrKey, len(id))
	}
	names, err := derive(key, "leaderscope/lock.name/v1")
	if err != nil {
		return nil, err
	}
	check, err := derive(key, "leaderscope/key-check/v1")
	if err != nil {
		return nil, err
	}
	return &pseudonyms{id: id, check: hex.EncodeToString(check[:4]), sum: keyed(names)}, nil
}

// derive binds the key to one purpose, so that labels cannot be compared with
// other pseudonyms made from the same secret.
func derive(key []byte, purpose string) ([]byte, error) {
	derived, err := hkdf.Key(sha256.New, key, nil, purpose, sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	return derived, nil
}

func keyed(key []byte) func(string) [sha256.Size]byte {
	return func(name string) (sum [sha256.Size]byte) {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(name))
		mac.Sum(sum[:0])
		return sum
	}
}

// label keeps 64 bits: among a million names two collide with a probability of
// 3e-8, and a collision would look like two leaders.
func (k *pseudonyms) label(name string) string {
	sum := k.sum(name)
	return k.id + ":" + hex.EncodeToString(sum[:hashDigits/2])
}

// hashDigits is the number of hex digits in a hash.
const hashDigits = 16

// isHash reports texts of the form that hashes have, under whichever id.
func isHash(text string) bool {
	n := len(text) - hashDigits - 1
	return n > 0 && text[n] == ':' && validKeyID(text[:n]) && isHex(text[n+1:])
}

func isHex(text string) bool {
	for _, c := range []byte(text) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func validKeyID(id string) bool {
	if len(id) < 1 || len(id) > 16 {
		return false
	}
	for _, c := range []byte(id) {
		word := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
		if !word {
			return false
		}
	}
	return true
}
