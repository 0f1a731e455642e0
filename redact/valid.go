package redact

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxLabelSize is the largest size of a label in bytes.
const MaxLabelSize = 128

// unnamed is the label of the empty name.
const unnamed = "unnamed"

// Valid makes any text fit for a label that names neither a lock nor a
// family, such as a backend: valid UTF-8 without control characters, at most
// MaxLabelSize bytes. Empty stays empty, which means no label.
func Valid(text string) string { return shorten(clean(text)) }

// single is the label of one lock: valid, never empty, and none of the labels
// that mean something else. A name that had to be changed gets a digest of
// itself, so that two such names do not become one lock.
func single(name string) string {
	text := strings.ReplaceAll(clean(name), Wildcard, "_")
	switch {
	case name == "":
		return unnamed
	case text != name || len(text) > MaxLabelSize || isReserved(text):
		return cut(text, MaxLabelSize-len(digest(name))) + digest(name)
	default:
		return text
	}
}

// isReserved reports texts that would pass for a label of several locks, for
// the hash of another name, or for another name that had to be changed.
func isReserved(text string) bool {
	n := len(text) - len(digest(""))
	changed := n >= 0 && text[n] == '~' && isHex(text[n+1:])
	return changed || text == Redacted || text == Overflow || text == unnamed || isHash(text)
}

// clean replaces what cannot be shown: invalid bytes, control characters, line
// separators, and marks that change the direction of the text around them.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= ' ' && r <= '~' {
			return r
		}
		if r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(text, "_"))
}

// shorten keeps long texts apart: cut alone, two texts with one beginning
// would become one.
func shorten(text string) string {
	if len(text) <= MaxLabelSize {
		return text
	}
	return cut(text, MaxLabelSize-len(digest(text))) + digest(text)
}

// cut takes at most n bytes and no half character.
func cut(text string, n int) string {
	return strings.ToValidUTF8(text[:min(len(text), n)], "")
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "~" + hex.EncodeToString(sum[:8])
}
