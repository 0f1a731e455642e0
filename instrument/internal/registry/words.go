package registry

import (
	"slices"

	"github.com/leaderscope/leaderscope/redact"
)

// words are the values that an open label has had.
type words []string

// bound returns the word, or the overflow label when there would be more words
// than that: families and backends that are made of names are no series each.
func (w *words) bound(word string, limit int) string {
	switch {
	case word == "" || slices.Contains(*w, word):
		return word
	case len(*w) >= limit:
		return redact.Overflow
	}
	*w = append(*w, word)
	return word
}
