package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/test/soak/timeline"
)

func TestARenewalLiesBetweenTheLooksThatShowIt(t *testing.T) {
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

// see adds looks to a referee, one a second.
func see(r *referee, records ...record) {
	for i, got := range records {
		at := time.Duration(i) * s
		r.looks = append(r.looks, timeline.Look{Asked: at, Answered: at, Holder: got.holder, Term: r.name(got)})
	}
}

func TestTermsOfOneNameAreToldApart(t *testing.T) {
	r := &referee{start: began}
	see(r, record{holder: "a", term: "7"}, record{holder: "a", term: "7"}, record{}, record{holder: "a", term: "7"}, record{holder: "b", term: "7"}, record{holder: "b", term: "8"})
	var got []string
	for _, l := range r.looks {
		got = append(got, l.Term)
	}
	if diff := cmp.Diff([]string{"7#1", "7#1", "", "7#2", "7#3", "8#4"}, got); diff != "" {
		t.Error(diff)
	}
	r.looks = append(r.looks, timeline.Look{Failed: true})
	if got := r.name(record{holder: "b", term: "8"}); got != "8#4" {
		t.Errorf("after a look that failed it is %s", got)
	}
	if got := r.holder(); got != "b" {
		t.Errorf("held by %q", got)
	}
}
