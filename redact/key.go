package redact

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/leaderscope/leaderscope/redact/internal/regularfile"
)

// MinKeySize is the least number of bytes of a hash key.
const MinKeySize = sha256.Size

// maxKeySize bounds what is read from a key file that is something else.
const maxKeySize = 1 << 16

// ErrKey is wrapped by every error about a key or its id. Neither is ever in
// the text.
var ErrKey = errors.New("leaderscope: hash key")

// ReadKeyFile reads a hash key: the bytes of the file without one newline at
// the end. The file must be regular, at the end of symbolic links or not; a
// named pipe, a device or a directory is refused without waiting. On systems
// with Unix permissions, a file that its group or others may write is refused,
// because they could replace the key. A file that others may read is accepted:
// secrets that Kubernetes and Docker mount are such files, and their modes
// cannot be changed from inside the container. Elsewhere, give the file mode
// 0600.
//
// Errors wrap ErrKey, and the error of the operating system if there is one.
// They name the file and what to do, and never show the key. Safe for
// concurrent use.
func ReadKeyFile(path string) ([]byte, error) {
	data, mode, err := regularfile.Read(path, maxKeySize)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	if isReplaceable(mode) {
		return nil, fmt.Errorf("%w: file %s has mode %04o, so that other users can replace the key; run chmod go-w on the file, or where it is mounted, set a mode such as 0440 for the mount (defaultMode of a Kubernetes volume)",
			ErrKey, path, mode.Perm())
	}
	return trimmedKey(data, "file "+path)
}

// isReplaceable reports files that users other than the owner may write.
func isReplaceable(mode fs.FileMode) bool {
	return mode&0o022 != 0 && runtime.GOOS != "windows" // where these bits have no meaning
}

// KeyFromEnv reads a hash key from an environment variable, without one newline at
// the end. Other processes of the same user can read the variable: prefer a file.
//
// Errors wrap ErrKey. They name the variable and what to do, and never show
// the key. Safe for concurrent use.
func KeyFromEnv(variable string) ([]byte, error) {
	value, ok := os.LookupEnv(variable)
	if !ok {
		return nil, fmt.Errorf("%w: environment variable %s is not set", ErrKey, variable)
	}
	return trimmedKey([]byte(value), "environment variable "+variable)
}

func trimmedKey(key []byte, source string) ([]byte, error) {
	if line, ended := bytes.CutSuffix(key, []byte("\n")); ended {
		key = bytes.TrimSuffix(line, []byte("\r")) // which may be the last byte of a binary key
	}
	return key, checkKey(key, source+" holds")
}

// checkKey refuses keys that hide nothing. The text begins with what has the
// key.
func checkKey(key []byte, holder string) error {
	const remedy = "make one with: openssl rand -hex 32"
	switch {
	case len(key) < MinKeySize:
		return fmt.Errorf("%w: %s %d bytes, want at least %d; %s", ErrKey, holder, len(key), MinKeySize, remedy)
	case isPattern(key):
		return fmt.Errorf("%w: %s a repeated pattern or few different bytes, want random ones; %s", ErrKey, holder, remedy)
	}
	return nil
}

// minBlock is the least number of bytes after which a key may repeat itself:
// 128 bits, the least that counts as a secure key.
const minBlock = 16

// minDistinct is the least number of different byte values in a key.
const minDistinct = 6

// isPattern reports keys that were typed or never filled: mostly one byte, a
// short block repeated, or few different bytes. It finds no other bad keys; a
// password that is long enough passes. The chance that it refuses a random key
// is at most
//
//	2e-30  for 32 random bytes
//	6e-21  for 64 hexadecimal digits, 4e-28 for 44 digits of base64
//	4e-11  for 32 hexadecimal digits
//	2e-7   for 32 decimal digits, the worst of all usual forms
//
// by the union bound: for n symbols of an alphabet of a, more than half alike
// is a*sum(k > n/2) C(n,k)*a^-k, five symbols only is C(a,5)*(5/a)^n, and a
// block shorter than 16 is sum(p < 16) a^-(n-p).
func isPattern(key []byte) bool {
	key = bytes.TrimRight(key, "\r\n") // of a file that was read without ReadKeyFile
	var count [256]int
	distinct := 0
	for _, b := range key {
		if count[b] == 0 {
			distinct++
		}
		if count[b]++; count[b] > len(key)/2 {
			return true
		}
	}
	return distinct < minDistinct || hasPeriodBelow(minBlock, key)
}

// hasPeriodBelow reports keys that are one block of fewer than n bytes, over
// and over; the last one may be cut short. A key of fewer than n bytes, which
// is what line ends may leave, is one such block.
func hasPeriodBelow(n int, key []byte) bool {
	for period := 1; period < n && period <= len(key); period++ {
		if bytes.Equal(key[period:], key[:len(key)-period]) {
			return true
		}
	}
	return false
}
