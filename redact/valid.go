package redact

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxLabelSize is the largest label in bytes.
const MaxLabelSize = 128

// Valid makes any text fit for a label that names neither a lock nor a
// family, such as a backend: valid UTF-8 without control characters, at most
// MaxLabelSize bytes. Empty stays empty, which means no label.
func Valid(text string) string { return shorten(clean(text)) }

// single is the label of one lock: valid, never empty, and never one of the
// labels that stand for several locks.
func single(name string) string {
	text := shorten(strings.ReplaceAll(clean(name), Wildcard, "_"))
	switch text {
	case "":
		return "unnamed"
	case Redacted, Overflow:
		return text + "_"
	default:
		return text
	}
}

func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(text, "_"))
}

// shorten keeps long texts apart: cut alone, two names with one beginning
// would become one lock with two leaders.
func shorten(text string) string {
	if len(text) <= MaxLabelSize {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	tail := "~" + hex.EncodeToString(sum[:8])
	head := text[:MaxLabelSize-len(tail)]
	for !utf8.ValidString(head) {
		head = head[:len(head)-1]
	}
	return head + tail
}
