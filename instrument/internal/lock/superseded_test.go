package lock

import (
	"strings"
	"testing"
)

// A term whose body outlived both its lease and the next win is kept no longer
// than the body.
func TestNothingIsKeptOfATermThatALaterWinHasShownToBeOver(t *testing.T) {
	l := newLab(t, Params{Lease: lease, MaxLeaders: 1})
	for _, event := range []string{
		"10s begin", "10s win a owned", "41s look-on", "42s body a x", "50s begin", "50s win b owned", "60s done a x",
	} {
		l.step(strings.Fields(event))
	}
	if last := l.term("b"); l.State.terms != last || last.next != nil {
		t.Error("more than the last term is kept")
	}
}
