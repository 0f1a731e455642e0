package status

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// stateText says what a state means, in the order of the states.
var stateText = [states]string{
	"this process keeps a term, or works under it, although another replica may lead",
	"this process holds the lock and its lease has not ended",
	"this process does not hold the lock; it may wait for it",
	"this process only watches the lock in its backend, or guards a store",
}

// stateSign stands beside the word of a state, so that rows can be told apart
// at a glance without colour.
var stateSign = [states]string{"▲", "●", "○", "◇"}

// causeText says what the causes of a term's end mean: the values of the label
// of leader_terms_ended_total.
var causeText = map[string]string{
	"released":       "released while held",
	"lost":           "the backend or the library reported that the lock is gone",
	"expired":        "the lease ended first",
	"canceled":       "the elector stopped without releasing the lock",
	"abandoned":      "the lock was forgotten while the term was open",
	"gave_up":        "the elector stopped renewing while the lease still ran",
	"release_failed": "the call that releases the lock failed",
}

// century is the length beyond which durations are not spelled out.
const century = seconds(100 * 365 * 24 * 60 * 60)

// inWords is a duration as people read it, without its sign.
func inWords(s seconds) string {
	s = seconds(math.Abs(float64(s)))
	if s > century {
		return "more than 100 years" // a clock was set
	}
	d := time.Duration(float64(s) * float64(time.Second))
	switch {
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	default:
		return fmt.Sprintf("%d d %d h", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
	}
}

// counted is a number with its noun, whose plural has an s.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// Lease says how much of a lease is left.
func (l lockStatus) Lease() string {
	switch {
	case l.LeaseHeadroom == nil && l.Active > 0:
		return "unknown end"
	case l.LeaseHeadroom == nil:
		return "none"
	case *l.LeaseHeadroom <= 0:
		return "ended " + inWords(*l.LeaseHeadroom) + " ago"
	case l.LeaseDuration > 0:
		return inWords(*l.LeaseHeadroom) + " of " + inWords(l.LeaseDuration)
	default:
		return inWords(*l.LeaseHeadroom)
	}
}

// Waiting says what is pending.
func (l lockStatus) Waiting() string {
	if l.Pending == 0 {
		return "none"
	}
	if l.Pending == 1 {
		return "1 attempt, for " + inWords(l.PendingAge)
	}
	return counted(l.Pending, "attempt") + ", oldest for " + inWords(l.PendingAge)
}
