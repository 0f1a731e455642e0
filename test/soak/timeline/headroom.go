package timeline

import (
	"slices"
	"time"
)

const (
	// sameEnd is how far two readings of one lease end may differ.
	sameEnd = 20 * time.Millisecond
	// near is how far from a look the samples may be that it is compared with.
	near = 500 * time.Millisecond
)

// Headroom is how far the exported lease end is from the backend's.
type Headroom struct {
	Compared int
	// Median is the middle of the differences' sizes.
	Median time.Duration
	// Unsafe is the most by which the exported end was later than the
	// backend's, Safe the most by which it was earlier; both at least 0.
	Unsafe, Safe time.Duration
}

// Headrooms are the differences between the exported lease end and the
// backend's, beyond what the duration of a look leaves open: positive where
// the exported end is later. A look counts where the samples before and after
// it export the same end: no renewal was answered in between.
func Headrooms(looks []Look, life Life) (all []time.Duration) {
	for _, l := range looks {
		if l.Failed || l.Rest <= 0 || l.Holder != life.Holder {
			continue
		}
		after, _ := slices.BinarySearchFunc(life.Samples, l.Answered, func(s Sample, at time.Duration) int { return int(s.From - at) })
		before := after - 1
		for before >= 0 && life.Samples[before].To > l.Asked {
			before--
		}
		if before < 0 || after == len(life.Samples) {
			continue
		}
		a, b := life.Samples[before], life.Samples[after]
		if a.Ends == 0 || b.Ends == 0 || (a.Ends-b.Ends).Abs() > sameEnd || l.Asked-a.To > near || b.From-l.Answered > near {
			continue
		}
		earliest, latest := l.Asked+l.Rest-l.Spread, l.Answered+l.Rest
		switch {
		case b.Ends > latest:
			all = append(all, b.Ends-latest)
		case b.Ends < earliest:
			all = append(all, b.Ends-earliest)
		default:
			all = append(all, 0)
		}
	}
	return all
}

// NewHeadroom sums differences up.
func NewHeadroom(differences []time.Duration) Headroom {
	h := Headroom{Compared: len(differences)}
	if h.Compared == 0 {
		return h
	}
	sizes := make([]time.Duration, 0, len(differences))
	for _, d := range differences {
		sizes = append(sizes, d.Abs())
		h.Unsafe, h.Safe = max(h.Unsafe, d), max(h.Safe, -d)
	}
	slices.Sort(sizes)
	h.Median = sizes[len(sizes)/2]
	return h
}
