package lock

import (
	"math"
	"slices"
	"testing"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

func TestACountBeyond32BitsCarries(t *testing.T) {
	var d Distribution
	d.counts[0] = math.MaxUint32
	for range 3 {
		d.observe(catalog.AcquireDuration, 0)
	}
	var c Distribution
	c.add(&d)
	d.observe(catalog.AcquireDuration, 0)
	c.add(&Distribution{Sum: 1})
	if got := c.Bucket(0); got != math.MaxUint32+3 {
		t.Errorf("%d, want %d", got, uint64(math.MaxUint32)+3)
	}
	if got := c.Bucket(1); got != 0 {
		t.Errorf("the next bucket counts %d", got)
	}
}

func TestNoHistogramHasMoreBoundsThanADistributionHolds(t *testing.T) {
	most := slices.MaxFunc(catalog.All(), func(a, b *catalog.Metric) int { return len(a.Bounds()) - len(b.Bounds()) })
	if len(most.Bounds()) != MaxBounds {
		t.Errorf("%s has %d bounds, MaxBounds is %d", most.Name(), len(most.Bounds()), MaxBounds)
	}
}
