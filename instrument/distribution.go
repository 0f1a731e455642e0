package instrument

import "github.com/leaderscope/leaderscope/instrument/catalog"

// maxBounds is the largest number of bounds in the catalogue; a test holds it
// there. A fixed array keeps a lock's numbers in one piece of memory.
const maxBounds = 12

// distribution is a classic histogram. Its owner guards it.
type distribution struct {
	counts [maxBounds + 1]uint64 // by bucket, the last finite bound is followed by +Inf
	sum    float64
}

func (d *distribution) observe(m *catalog.Metric, v float64) {
	i := 0
	for i < len(m.Bounds) && v > m.Bounds[i] {
		i++
	}
	d.counts[i]++
	d.sum += v
}

// Histogram is what a histogram metric holds at one instant.
type Histogram struct {
	// Counts holds the observations of each bucket by itself, not cumulated:
	// one for each bound of the metric and one beyond the last.
	Counts []uint64
	// Sum adds up the observations, in the metric's unit.
	Sum float64
}

// Count is the number of observations.
func (h *Histogram) Count() uint64 {
	var n uint64
	for _, c := range h.Counts {
		n += c
	}
	return n
}
