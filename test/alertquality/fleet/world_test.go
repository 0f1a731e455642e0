package fleet

import (
	"testing"
	"time"
)

func TestX(t *testing.T) {
	for _, w := range []bool{true, false} {
		start := time.Now()
		h, err := World{Seed: 1, Length: 7 * 24 * time.Hour, Replicas: 3, Lease: 15 * time.Second, Waiting: w, Scrape: 30 * time.Second, Mix: Stress(), ClockOffset: 500 * time.Millisecond}.Run(nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, s := range h.Series {
			n += len(s.samples)
		}
		t.Log(time.Since(start), len(h.Series), n, len(h.Terms), len(h.Incidents), len(h.Free), len(h.Overlaps))
		for _, i := range h.Incidents[:20] {
			t.Log(i)
		}
		t.Log(h.Free)
		t.Log(h.Overlaps)
	}
}
