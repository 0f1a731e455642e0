package instrument

import (
	"math"
	"slices"
	"testing"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

func TestACountBeyond32BitsCarries(t *testing.T) {
	var d distribution
	d.counts[0] = math.MaxUint32
	for range 3 {
		d.observe(catalog.AcquireDuration, 0)
	}
	c := d.copied()
	d.observe(catalog.AcquireDuration, 0)
	if got := c.bucket(0); got != math.MaxUint32+3 {
		t.Errorf("%d, want %d", got, uint64(math.MaxUint32)+3)
	}
	if got := c.bucket(1); got != 0 {
		t.Errorf("the next bucket counts %d", got)
	}
}

func TestNoHistogramHasMoreBoundsThanADistributionHolds(t *testing.T) {
	most := slices.MaxFunc(catalog.All(), func(a, b *catalog.Metric) int { return len(a.Bounds) - len(b.Bounds) })
	if len(most.Bounds) != maxBounds {
		t.Errorf("%s has %d bounds, maxBounds is %d", most.Name, len(most.Bounds), maxBounds)
	}
}
