package status

import (
	"cmp"
	"encoding/json"
	"io"
	"math"
	"slices"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// schemaVersion changes when a field changes its meaning or goes.
const schemaVersion = 1

// document is the status of a process: what the JSON is, and what the page
// shows. What is unknown is absent. docs/status.md describes the fields.
type document struct {
	Schema    int          `json:"schema"`
	Instance  string       `json:"instance,omitempty"`
	Time      date         `json:"time"`
	Faults    uint64       `json:"telemetry_faults"`
	TermsKept int          `json:"terms_kept"`
	Totals    totals       `json:"totals"`
	Page      int          `json:"page"`
	Pages     int          `json:"pages"`
	Locks     []lockStatus `json:"locks"`
}

// totals are over all labels, whichever are in the answer.
type totals struct {
	Locks   int `json:"locks"`
	Leading int `json:"leading"`
	Overrun int `json:"overrun"`
	Pending int `json:"pending"`
}

type lockStatus struct {
	LockName      string      `json:"lock_name"`
	State         state       `json:"state"`
	Shared        bool        `json:"shared"`
	Electors      []elector   `json:"electors"`
	Active        int         `json:"active"`
	Running       int         `json:"running"`
	Pending       int         `json:"pending"`
	PendingAge    seconds     `json:"pending_age_seconds"`
	MaxLeaders    int         `json:"max_leaders,omitempty"`
	LeaseDuration seconds     `json:"lease_duration_seconds,omitempty"`
	LeaseHeadroom *seconds    `json:"lease_headroom_seconds,omitempty"`
	Open          []openTerm  `json:"open_terms"`
	OpenOmitted   int         `json:"open_terms_omitted"`
	Ended         []endedTerm `json:"ended_terms"`
	Views         []view      `json:"backend_views"`
}

type elector struct {
	Mode    string `json:"mode"`
	Backend string `json:"backend,omitempty"`
	Family  string `json:"family,omitempty"`
}

type openTerm struct {
	Began         date     `json:"began"`
	Held          seconds  `json:"held_seconds"`
	Expiry        *date    `json:"lease_expiry,omitempty"`
	LeaseHeadroom *seconds `json:"lease_headroom_seconds,omitempty"`
	Active        bool     `json:"active"`
	Overrun       bool     `json:"overrun"`
	Running       int      `json:"running"`
}

type endedTerm struct {
	Began date    `json:"began"`
	Ended date    `json:"ended"`
	Held  seconds `json:"held_seconds"`
	Cause string  `json:"cause"`

	Ago seconds `json:"-"`
}

type view struct {
	Backend string `json:"backend,omitempty"`
	Held    int    `json:"held"`
	Holder  string `json:"holder,omitempty"`
}

// state sums up what this process has to do with the locks of a label. The
// states are in the order of their urgency.
type state uint8

const (
	overrun state = iota
	leading
	standby
	watching

	states
)

var stateWords = [states]string{"overrun", "leading", "standby", "watching"}

func (s state) String() string { return stateWords[s] }

// MarshalText implements encoding.TextMarshaler.
func (s state) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// date is a time in UTC, to the millisecond. Unlike time.Time it can be
// written for any reading of a clock.
type date time.Time

func (d date) String() string { return time.Time(d).UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// MarshalText implements encoding.TextMarshaler.
func (d date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// seconds are a duration in seconds, to the millisecond.
type seconds float64

func secondsOf(d time.Duration) seconds { return seconds(math.Round(d.Seconds()*1e3) / 1e3) }

func (h *handler) writeJSON(w io.Writer, q query) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(h.read(q))
}

// read takes the status. It keeps only the locks of the page and those before it.
func (h *handler) read(q query) *document {
	d := &document{Schema: schemaVersion, Instance: h.instance, Faults: h.m.Faults(), TermsKept: h.terms, Locks: []lockStatus{}}
	chosen, most := 0, q.page*PageSize
	now := time.Now()
	h.m.Inspect(func(s *instrument.Snapshot) {
		now = s.At
		if d.Totals.add(s); q.lockName != "" && q.lockName != s.Label {
			return
		}
		chosen++
		if d.Locks = append(d.Locks, h.statusOf(s)); len(d.Locks) >= 2*most {
			d.Locks = mostUrgent(d.Locks, most)
		}
	})
	d.Time = date(now)
	d.Pages = max(1, (chosen+PageSize-1)/PageSize)
	d.Page = min(q.page, d.Pages)
	from := (d.Page - 1) * PageSize
	d.Locks = mostUrgent(d.Locks, len(d.Locks))[from:min(len(d.Locks), from+PageSize)]
	return d
}

// mostUrgent sorts by urgency, then by label, and cuts off.
func mostUrgent(locks []lockStatus, most int) []lockStatus {
	slices.SortFunc(locks, func(a, b lockStatus) int {
		return cmp.Or(cmp.Compare(a.State, b.State), cmp.Compare(min(b.Pending, 1), min(a.Pending, 1)), cmp.Compare(a.LockName, b.LockName))
	})
	clear(locks[most:])
	return locks[:most]
}

func (t *totals) add(s *instrument.Snapshot) {
	t.Locks++
	t.Pending += s.Pending
	if s.Active > 0 {
		t.Leading++
	}
	if overruns(s) {
		t.Overrun++
	}
}

func overruns(s *instrument.Snapshot) bool {
	return slices.ContainsFunc(s.Open, func(o instrument.OpenTerm) bool { return o.Overrun })
}

func stateOf(s *instrument.Snapshot) state {
	switch {
	case overruns(s):
		return overrun
	case s.Active > 0:
		return leading
	case s.WatchOnly:
		return watching
	default:
		return standby
	}
}

// statusOf copies a snapshot. Lists are never null.
func (h *handler) statusOf(s *instrument.Snapshot) lockStatus {
	l := lockStatus{
		LockName: s.Label, State: stateOf(s), Shared: s.Shared, Active: s.Active, Running: s.Running, Pending: s.Pending,
		PendingAge: max(secondsOf(s.PendingAge), 0), MaxLeaders: s.MaxLeaders, LeaseDuration: secondsOf(s.LeaseDuration),
		LeaseHeadroom: headroom(s), OpenOmitted: max(len(s.Open)-MaxOpenTerms, 0),
		Electors: []elector{}, Open: []openTerm{}, Ended: []endedTerm{}, Views: []view{},
	}
	for _, e := range s.Electors {
		l.Electors = append(l.Electors, elector{e.Mode.String(), e.Backend, e.Family})
	}
	for _, o := range s.Open[:min(len(s.Open), MaxOpenTerms)] {
		l.Open = append(l.Open, openTermOf(o, s.At))
	}
	for _, e := range s.Ended[:min(len(s.Ended), h.terms)] {
		l.Ended = append(l.Ended, endedTermOf(e, s.At))
	}
	for _, v := range s.Views {
		l.Views = append(l.Views, view{v.Backend, v.Held, v.Holder})
	}
	return l
}

// headroom is the time to the earliest lease end of a term that leads, else
// that of a lease which has ended; nil where none is known. Terms come with the
// earliest end first.
func headroom(s *instrument.Snapshot) *seconds {
	for _, o := range s.Open {
		if !o.Expiry.IsZero() && (o.Active || !o.Expiry.After(s.At)) {
			left := secondsOf(o.Expiry.Sub(s.At))
			return &left
		}
	}
	return nil
}

func openTermOf(o instrument.OpenTerm, now time.Time) openTerm {
	t := openTerm{
		Began: date(o.Began), Held: max(secondsOf(now.Sub(o.Began)), 0),
		Active: o.Active, Overrun: o.Overrun, Running: o.Running,
	}
	if !o.Expiry.IsZero() {
		expiry, left := date(o.Expiry), secondsOf(o.Expiry.Sub(now))
		t.Expiry, t.LeaseHeadroom = &expiry, &left
	}
	return t
}

func endedTermOf(e instrument.EndedTerm, now time.Time) endedTerm {
	return endedTerm{
		Began: date(e.Began), Ended: date(e.Ended), Cause: causeOf(e.Cause),
		Held: max(secondsOf(e.Ended.Sub(e.Began)), 0), Ago: max(secondsOf(now.Sub(e.Ended)), 0),
	}
}

func causeOf(c catalog.EndCause) string { return c.String() }

// Short is the date as the page shows it.
func (d date) Short() string { return time.Time(d).UTC().Format("2006-01-02 15:04:05 UTC") }
