package record

import (
	"testing"
	"time"
)

func TestARenewalLiesBetweenTheLooksThatShowIt(t *testing.T) {
	const s = time.Second
	began := time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC)
	var r renewal
	for i, look := range []struct {
		version         string
		asked, answered time.Duration
		after, by       time.Duration
	}{
		{"1", 0, 2 * s, 0, 2 * s},
		{"1", 3 * s, 4 * s, 0, 2 * s},
		{"2", 5 * s, 6 * s, 3 * s, 6 * s},
		{"2", 7 * s, 8 * s, 3 * s, 6 * s},
		{"3", 9 * s, 10 * s, 7 * s, 10 * s},
	} {
		r.look(look.version, began.Add(look.asked), began.Add(look.answered))
		if after, by := r.after.Sub(began), r.by.Sub(began); after != look.after || by != look.by {
			t.Errorf("look %d: between %v and %v, want %v and %v", i+1, after, by, look.after, look.by)
		}
	}
}
