package redact

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"hash/crc64"
	"hash/fnv"
	"strings"
	"testing"
)

// unkeyed are digests that anybody can make of a guessed name.
var unkeyed = map[string]func() hash.Hash{
	"MD5": md5.New, "SHA-1": sha1.New, "SHA-224": sha256.New224, "SHA-256": sha256.New,
	"SHA-384": sha512.New384, "SHA-512": sha512.New, "SHA-512/256": sha512.New512_256,
	"CRC-32":            func() hash.Hash { return crc32.NewIEEE() },
	"CRC-32C":           func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) },
	"CRC-64/ISO":        func() hash.Hash { return crc64.New(crc64.MakeTable(crc64.ISO)) },
	"CRC-64/ECMA":       func() hash.Hash { return crc64.New(crc64.MakeTable(crc64.ECMA)) },
	"Adler-32":          func() hash.Hash { return adler32.New() },
	"FNV-32":            func() hash.Hash { return fnv.New32() },
	"FNV-32a":           func() hash.Hash { return fnv.New32a() },
	"FNV-64":            func() hash.Hash { return fnv.New64() },
	"FNV-64a":           func() hash.Hash { return fnv.New64a() },
	"FNV-128":           func() hash.Hash { return fnv.New128() },
	"FNV-128a":          func() hash.Hash { return fnv.New128a() },
	"the key as prefix": func() hash.Hash { h := sha256.New(); h.Write(key); return h },
}

// minOverlap is the least piece of a digest that is looked for: shorter ones
// come about by chance.
const minOverlap = 8

// common reports that a label and a digest share their beginning, their end,
// or that one contains the other.
func common(digits, digest string) bool {
	n := min(len(digits), len(digest))
	return strings.Contains(digits, digest) || strings.Contains(digest, digits) ||
		digits[:min(n, minOverlap)] == digest[:min(n, minOverlap)] ||
		digits[len(digits)-minOverlap:] == digest[len(digest)-minOverlap:]
}

func TestC20KeyedLabelsCannotBeGuessedAndAgreeAcrossReplicas(t *testing.T) {
	one, again := hashed(t, key, "k1"), hashed(t, append([]byte(nil), key...), "k1")
	other := hashed(t, []byte(otherKey), "k1")
	seen := map[string]bool{}
	for i := range 1000 {
		name := fmt.Sprintf("user-%d@example.com", i)
		label := one.Label(name).Text
		if label != again.Label(name).Text {
			t.Fatalf("replicas disagree on name %d", i)
		}
		if label == other.Label(name).Text {
			t.Fatalf("two keys agree on name %d", i)
		}
		if seen[label] {
			t.Fatalf("name %d has the label of another", i)
		}
		seen[label] = true
		digits := strings.TrimPrefix(label, "k1:")
		for what, newHash := range unkeyed {
			h := newHash()
			h.Write([]byte(name))
			sum := h.Sum(nil)
			for _, digest := range []string{hex.EncodeToString(sum), base64.StdEncoding.EncodeToString(sum), fmt.Sprint(sum)} {
				if common(digits, digest) {
					t.Fatalf("label of name %d has part of its %s", i, what)
				}
			}
		}
	}
	if one.Info() != again.Info() || one.Info().KeyCheck == other.Info().KeyCheck {
		t.Errorf("key checks: %v, %v, %v", one.Info(), again.Info(), other.Info())
	}
}

// A label of one key, fixed here, is what every process and every version of
// this module must give: replicas of two versions run side by side. It was
// made with another implementation of HKDF and HMAC.
func TestC20LabelsStayTheSameAcrossVersions(t *testing.T) {
	p := hashed(t, key, "k1")
	for name, want := range map[string]string{
		"billing": "k1:937c429ef80d3ee9", "tenant-42/orders": "k1:5bbc78b30d513a10", "tenant-vip": "k1:ca02c61f7f09a79f",
	} {
		if got := p.Label(name).Text; got != want {
			t.Errorf("label of %s is %s, want %s", name, got, want)
		}
	}
}
