package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestAKeyThatWasNeverFilledOrTypedIsRefused(t *testing.T) {
	few := make([]byte, 32)
	copy(few, "\x01\x02\x03\x04\x05\x06\x07\x08")
	for name, key := range map[string][]byte{
		"32 zero bytes":                   make([]byte, 32),
		"a page of zero bytes":            make([]byte, 4096),
		"zeros in hex":                    bytes.Repeat([]byte("0"), 64),
		"one letter":                      bytes.Repeat([]byte("k"), 32),
		"one letter and a line end":       append(bytes.Repeat([]byte("k"), 32), "\r\n"...),
		"two letters in turn":             bytes.Repeat([]byte("ab"), 20),
		"a word repeated":                 bytes.Repeat([]byte("changeme"), 4),
		"a word repeated, cut short":      bytes.Repeat([]byte("password"), 9)[:70],
		"a word and a line end":           append(bytes.Repeat([]byte("password"), 4), '\n'),
		"a block of 15 bytes":             bytes.Repeat([]byte("0123456789abcde"), 3),
		"two letters without an order":    []byte("aabbabaabbbabaababbabaabbaababba"),
		"five letters without an order":   []byte("abcdeedcbabcedaebdcaecbdeadbceab"),
		"a number in front of zero bytes": few,
		"one bit set":                     append(make([]byte, 31), 1),
		"a line end, 32 times":            bytes.Repeat([]byte("\n"), 32),
		"ten letters and 22 line ends":    []byte("qwertzuiop" + strings.Repeat("\r\n", 11)),
		"15 letters and 17 line ends":     []byte("qwertzuiopasdfg" + strings.Repeat("\n", 17)),
		"one byte more than half":         []byte("0123456789abcde" + strings.Repeat("k", 17)),
	} {
		if err := Hash(key, "k1").Err(); !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), "openssl rand -hex 32") {
			t.Errorf("%s: error %v", name, err)
		}
		if _, err := ReadKeyFile(write(t, string(key), 0o600)); !errors.Is(err, ErrKey) {
			t.Errorf("%s, in a file: error %v", name, err)
		}
		if bytes.ContainsRune(key, 0) {
			continue
		}
		t.Setenv(keyVariable, string(key))
		if _, err := KeyFromEnv(keyVariable); !errors.Is(err, ErrKey) {
			t.Errorf("%s, in a variable: error %v", name, err)
		}
	}
}

// The bounds are those of the error probabilities that isPattern documents.
func TestAKeyAtTheBoundsIsAccepted(t *testing.T) {
	for name, key := range map[string]string{
		"one byte, half of the key":       "0123456789abcdef" + strings.Repeat("k", 16),
		"half of an odd number of bytes":  "0123456789abcdefg" + strings.Repeat("k", 16),
		"a block of 16 bytes":             strings.Repeat("0123456789abcdef", 3),
		"six letters without an order":    "abcdeffedcbabcedaebfcaecbdeafceb",
		"16 bytes and 16 line ends":       "0123456789abcdef" + strings.Repeat("\n", 16),
		"line ends in front of the bytes": strings.Repeat("\n", 16) + "0123456789abcdef",
	} {
		if err := Hash([]byte(key), "k1").Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNoRandomKeyIsRefused(t *testing.T) {
	random := rand.NewChaCha8([32]byte([]byte("the tests are the same each time")))
	digits := func(n, base int) []byte {
		key := make([]byte, n)
		for i := range key {
			key[i] = "0123456789abcdef"[random.Uint64()%uint64(base)]
		}
		return key
	}
	for range 20_000 {
		key := make([]byte, 32)
		_, _ = random.Read(key)
		for form, k := range map[string][]byte{
			"bytes":              key,
			"hex":                []byte(hex.EncodeToString(key)),
			"base64":             []byte(base64.StdEncoding.EncodeToString(key)),
			"hex and a line end": []byte(hex.EncodeToString(key) + "\r\n"),
			"32 hex digits":      digits(32, 16),
			"40 decimal digits":  digits(40, 10),
			"16 bytes twice":     bytes.Repeat(key[:16], 2),
		} {
			if isPattern(k) {
				t.Fatalf("%s: %q is refused", form, k)
			}
		}
	}
}
