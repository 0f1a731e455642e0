package main

import (
	"fmt"
	"strconv"
	"time"
)

// axis is the time that the report shows.
type axis struct{ begin, end time.Time }

func (a axis) span() time.Duration { return max(a.end.Sub(a.begin), time.Second) }

// shows reports whether something was within the axis; a zero end lasts.
func (a axis) shows(begin, end time.Time) bool {
	return begin.Before(a.end) && (end.IsZero() || end.After(a.begin))
}

// bar places a time on the axis, cut to what it shows.
func (a axis) bar(begin, end time.Time, class, text, short string) bar {
	from, to := a.part(begin), a.part(end)
	if end.IsZero() {
		to = 100
	}
	return bar{percent(from), percent(max(to-from, 0)), class, fmt.Sprintf("%s, %s to %s", text, a.at(begin), a.until(end)), short}
}

// part is where a time is, in percent.
func (a axis) part(t time.Time) float64 {
	return min(max(100*t.Sub(a.begin).Seconds()/a.span().Seconds(), 0), 100)
}

func percent(p float64) string { return strconv.FormatFloat(p, 'f', 2, 64) }

// at is a time since the begin.
func (a axis) at(t time.Time) string { return clock(max(t.Sub(a.begin), 0)) }

func (a axis) until(t time.Time) string {
	if t.IsZero() || t.After(a.end) {
		return "the end"
	}
	return a.at(t)
}

func clock(d time.Duration) string {
	s := int(d.Seconds())
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// ticks are up to six round times.
func (a axis) ticks() (all []bar) {
	step := 5 * time.Second
	for _, longer := range []time.Duration{10, 15, 30, 60, 120, 300, 600, 1200, 3600} {
		if a.span() <= 6*step {
			break
		}
		step = longer * time.Second
	}
	for t := time.Duration(0); t < a.span(); t += step {
		all = append(all, bar{Left: percent(a.part(a.begin.Add(t))), Text: clock(t)})
	}
	return all
}
