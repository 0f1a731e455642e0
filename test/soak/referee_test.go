package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/test/record"
	"github.com/leaderscope/leaderscope/test/soak/timeline"
)

// see adds looks to a referee, one a second.
func see(r *referee, records ...record.Record) {
	for i, got := range records {
		at := time.Duration(i) * s
		r.looks = append(r.looks, timeline.Look{Asked: at, Answered: at, Holder: got.Holder, Term: r.name(got)})
	}
}

func TestTermsOfOneNameAreToldApart(t *testing.T) {
	r := &referee{start: began}
	see(r, record.Record{Holder: "a", Term: "7"}, record.Record{Holder: "a", Term: "7"}, record.Record{}, record.Record{Holder: "a", Term: "7"}, record.Record{Holder: "b", Term: "7"}, record.Record{Holder: "b", Term: "8"})
	var got []string
	for _, l := range r.looks {
		got = append(got, l.Term)
	}
	if diff := cmp.Diff([]string{"7#1", "7#1", "", "7#2", "7#3", "8#4"}, got); diff != "" {
		t.Error(diff)
	}
	r.looks = append(r.looks, timeline.Look{Failed: true})
	if got := r.name(record.Record{Holder: "b", Term: "8"}); got != "8#4" {
		t.Errorf("after a look that failed it is %s", got)
	}
	if got := r.holder(); got != "b" {
		t.Errorf("held by %q", got)
	}
}
