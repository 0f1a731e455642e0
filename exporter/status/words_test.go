package status

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/redact"
)

func TestDurationsAreReadAsPeopleSayThem(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0.0 s": 0, "0.1 s": 149 * time.Millisecond, "9.9 s": 9940 * time.Millisecond, "10 s": 10 * time.Second, "59 s": 59999 * time.Millisecond,
		"1 min 0 s": time.Minute, "59 min 59 s": time.Hour - time.Second, "1 h 0 min": time.Hour, "23 h 59 min": 24*time.Hour - time.Second,
		"1 d 0 h": 24 * time.Hour, "36500 d 0 h": 36500 * 24 * time.Hour, "2.5 s": -2500 * time.Millisecond,
		"more than 100 years": 36500*24*time.Hour + time.Second,
	} {
		if got := inWords(secondsOf(d)); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
		if got := inWords(secondsOf(-d)); got != want {
			t.Errorf("%v is %q, want %q", -d, got, want)
		}
	}
}

// The causes on the page are those of the catalogue, each with its meaning.
func TestEveryCauseHasAMeaning(t *testing.T) {
	label, ok := catalog.TermsEnded.Label("cause")
	if !ok {
		t.Fatal("no causes in the catalogue")
	}
	for _, cause := range label.Values() {
		if causeText[cause] == "" {
			t.Errorf("cause %q has no meaning", cause)
		}
	}
	for cause := range causeText {
		if !slices.Contains(label.Values(), cause) {
			t.Errorf("the catalogue has no cause %q", cause)
		}
	}
}

func TestLeaseAndWaitingAreSaidInWords(t *testing.T) {
	left := func(s seconds) *seconds { return &s }
	for _, c := range []struct {
		l              lockStatus
		lease, waiting string
	}{
		{lockStatus{}, "none", "none"},
		{lockStatus{Active: 1, Pending: 1, PendingAge: 3.25}, "unknown end", "1 attempt, for 3.2 s"},
		{lockStatus{Active: 1, LeaseHeadroom: left(2), LeaseDuration: 15, Pending: 2, PendingAge: 61}, "2.0 s of 15 s", "2 attempts, oldest for 1 min 1 s"},
		{lockStatus{Active: 1, LeaseHeadroom: left(2)}, "2.0 s", "none"},
		{lockStatus{Active: 1, LeaseHeadroom: left(0.1)}, "0.1 s", "none"},
		{lockStatus{LeaseHeadroom: left(0)}, "ended 0.0 s ago", "none"},
		{lockStatus{LeaseHeadroom: left(-12), LeaseDuration: 5}, "ended 12 s ago", "none"},
	} {
		if lease, waiting := c.l.Lease(), c.l.Waiting(); lease != c.lease || waiting != c.waiting {
			t.Errorf("%+v: %q and %q, want %q and %q", c.l, lease, waiting, c.lease, c.waiting)
		}
	}
}

// A lock with pending attempts comes before one without; their number makes no
// difference.
func TestTheMostUrgentLocksComeFirst(t *testing.T) {
	locks := []lockStatus{
		{LockName: "a", State: standby}, {LockName: "b", State: standby, Pending: 1}, {LockName: "c", State: standby, Pending: 3},
		{LockName: "d", State: standby, Pending: 2}, {LockName: "e", State: leading}, {LockName: "f", State: standby},
		{LockName: "g", State: watching, Pending: 1}, {LockName: "h", State: overrun}, {LockName: "i", State: leading, Pending: 1},
	}
	slices.Reverse(locks)
	var got []string
	for _, l := range mostUrgent(locks, 8) {
		got = append(got, l.LockName)
	}
	if want := []string{"h", "i", "e", "b", "c", "d", "a", "f"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The first page of many locks takes the memory of a few pages.
func TestALongListKeepsNoMoreThanItShows(t *testing.T) {
	m, err := instrument.New(instrument.WithMaxLabels(10*PageSize), instrument.WithRedactor(redact.Raw()))
	if err != nil {
		t.Fatal(err)
	}
	h := &handler{m: m, terms: DefaultTerms}
	for i := range 10 * PageSize {
		m.Named(strconv.Itoa(i))
	}
	if d := h.read(query{page: 1}); len(d.Locks) != PageSize || cap(d.Locks) > 4*PageSize {
		t.Errorf("%d locks are shown, there is room for %d", len(d.Locks), cap(d.Locks))
	}
}
