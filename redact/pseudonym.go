package redact

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// pseudonyms makes the labels of one key. What is derived from the key is
// inside the closure, where no printer that walks through fields finds it.
type pseudonyms struct {
	id, check string
	sum       func(name string) [sha256.Size]byte
}

// newPseudonyms calls the key by what it is in its errors.
func newPseudonyms(key []byte, id, what string) (*pseudonyms, error) {
	if err := checkKey(key, what+" has"); err != nil {
		return nil, err
	}
	if !validKeyID(id) { // not shown, since it may be the key in the wrong place
		return nil, fmt.Errorf("%w: the id of %s has %d bytes or a forbidden character, want 1 to 16 letters, digits, '-' or '_'", ErrKey, what, len(id))
	}
	check := derive(key, "leaderscope/key-check/v1")
	return &pseudonyms{id: id, check: hex.EncodeToString(check[:4]), sum: keyed(derive(key, "leaderscope/lock.name/v1"))}, nil
}

// derive binds the key to one purpose, so that labels cannot be compared with
// other pseudonyms made from the same secret. It cannot fail: checkKey has
// refused short keys, and the result is one hash long. Should it fail all the
// same, the conversion panics, and no name is hashed without the key.
func derive(key []byte, purpose string) [sha256.Size]byte {
	derived, _ := hkdf.Key(sha256.New, key, nil, purpose, sha256.Size)
	return [sha256.Size]byte(derived)
}

func keyed(key [sha256.Size]byte) func(string) [sha256.Size]byte {
	return func(name string) (sum [sha256.Size]byte) {
		mac := hmac.New(sha256.New, key[:])
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

// isHash reports texts of the form that hashes have, under any id.
func isHash(text string) bool {
	id, digits, found := strings.Cut(text, ":")
	return found && len(digits) == hashDigits && validKeyID(id) && isHex(digits)
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
