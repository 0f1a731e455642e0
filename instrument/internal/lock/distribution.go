package lock

import "github.com/leaderscope/leaderscope/instrument/catalog"

// MaxBounds is the largest number of bounds in the catalogue; a test compares
// the two. A fixed array keeps the numbers of a lock in one piece of memory.
const MaxBounds = 11

// Distribution is a classic histogram. Counts are 32 bits with a carry: most
// locks never need more, and every lock pays for them.
type Distribution struct {
	Sum    float64
	carry  *[MaxBounds + 1]uint32
	counts [MaxBounds + 1]uint32 // by bucket; the last finite one is followed by +Inf
}

// observe adds a value of the metric.
func (d *Distribution) observe(m *catalog.Metric, v float64) {
	i := m.BucketOf(v)
	d.Sum += v
	if d.counts[i]++; d.counts[i] == 0 {
		d.carried()[i]++
	}
}

func (d *Distribution) carried() *[MaxBounds + 1]uint32 {
	if d.carry == nil {
		d.carry = new([MaxBounds + 1]uint32)
	}
	return d.carry
}

func (d *Distribution) add(o *Distribution) {
	d.Sum += o.Sum
	for i := range d.counts {
		sum := d.Bucket(i) + o.Bucket(i)
		d.counts[i] = uint32(sum)
		if high := uint32(sum >> 32); high != 0 {
			d.carried()[i] = high
		}
	}
}

// Bucket is the count of one bucket, not cumulated.
func (d *Distribution) Bucket(i int) uint64 {
	if d.carry == nil {
		return uint64(d.counts[i])
	}
	return uint64(d.carry[i])<<32 | uint64(d.counts[i])
}
