package instrument

import "github.com/leaderscope/leaderscope/instrument/catalog"

// maxBounds is the largest number of bounds in the catalogue; a test holds it
// there. A fixed array keeps a lock's numbers in one piece of memory.
const maxBounds = 12

// distribution is a classic histogram. Its owner guards it. Counts are 32 bits
// with a carry, since most locks never need more and every lock pays.
type distribution struct {
	sum    float64
	carry  *[maxBounds + 1]uint32
	counts [maxBounds + 1]uint32 // by bucket, the last finite bound is followed by +Inf
}

func (d *distribution) observe(m *catalog.Metric, v float64) {
	i := 0
	for i < len(m.Bounds) && v > m.Bounds[i] {
		i++
	}
	d.sum += v
	if d.counts[i]++; d.counts[i] == 0 {
		if d.carry == nil {
			d.carry = new([maxBounds + 1]uint32)
		}
		d.carry[i]++
	}
}

// copied is a copy that shares nothing.
func (d *distribution) copied() distribution {
	c := *d
	if d.carry != nil {
		carry := *d.carry
		c.carry = &carry
	}
	return c
}

// bucket is the count of one bucket.
func (d *distribution) bucket(i int) uint64 {
	if d.carry == nil {
		return uint64(d.counts[i])
	}
	return uint64(d.carry[i])<<32 | uint64(d.counts[i])
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
