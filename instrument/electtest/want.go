package electtest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// want is what a set of series has to show. A series that is not in it must
// not exist. Buckets are left out: the core makes them from what is compared.
type want map[string]bounds

// bounds are those of a value, both included.
type bounds struct {
	low, high float64
	optional  bool // the series need not exist
}

func exactly(v float64) bounds         { return bounds{low: v, high: v} }
func between(low, high float64) bounds { return bounds{low: low, high: high} }
func atLeast(low float64) bounds       { return bounds{low: low, high: math.Inf(1)} }

// free is any value, or none.
func free() bounds { return bounds{low: math.Inf(-1), high: math.Inf(1), optional: true} }

// these are the series as they are.
func these(r Series) want {
	w := want{}
	for k, v := range r {
		w[k] = exactly(v)
	}
	return w
}

func (w want) with(changes want) want {
	merged := maps.Clone(w)
	maps.Copy(merged, changes)
	return merged
}

func (w want) without(keys ...string) want {
	rest := maps.Clone(w)
	for _, k := range keys {
		delete(rest, k)
	}
	return rest
}

// diff lists the series that are not as wanted; empty when all are.
func (w want) diff(got Series) string {
	var lines []string
	for k, b := range w {
		v, there := got[k]
		switch {
		case !there && !b.optional:
			lines = append(lines, fmt.Sprintf("\t%s: want %s, and there is no such series\n", k, b))
		case there && (v < b.low || v > b.high):
			lines = append(lines, fmt.Sprintf("\t%s: want %s, got %v\n", k, b, v))
		}
	}
	for k, v := range got {
		if _, wanted := w[k]; !wanted && !isBucket(k) {
			lines = append(lines, fmt.Sprintf("\t%s: want no such series, got %v\n", k, v))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func isBucket(key string) bool { return strings.Contains(key, "_bucket{") }

func (b bounds) String() string {
	switch {
	case b.low == b.high:
		return fmt.Sprint(b.low)
	case math.IsInf(b.high, 1):
		return fmt.Sprintf("at least %v", b.low)
	default:
		return fmt.Sprintf("%v to %v", b.low, b.high)
	}
}

func unix(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

// Keys that several checks name.
var (
	notAcquired = func(r catalog.Reason) string { return Of(catalog.NotAcquired, r.String()) }
	termsEnded  = func(c catalog.EndCause) string { return Of(catalog.TermsEnded, c.String()) }
	releases    = func(r catalog.ReleaseResult) string { return Of(catalog.Releases, r.String()) }
	renewals    = func(r catalog.RenewalResult) string { return Of(catalog.Renewals, r.String()) }
)
