package dashboards

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
	_ "time/tzdata" // the zones that exist do not depend on the machine
)

// timeChecks validates time ranges, refresh intervals and time zones. Grafana reports
// no error for an invalid one, and shows an empty page or its own default.
func (c Config) timeChecks() []check {
	_, fromErr := parseRelative(c.From)
	_, toErr := parseRelative(c.To)
	return []check{
		{"refresh", validRefresh(c.Refresh), fmt.Sprintf("%q is not a valid refresh interval; use one unit and at least 5s, such as 30s, 5m or 1h, or leave it empty", c.Refresh)},
		{"from", fromErr == nil, fmt.Sprintf("%q is not a valid start of a time range; write it as now-3h or now-1d/d", c.From)},
		{"to", toErr == nil, fmt.Sprintf("%q is not a valid end of a time range; write it as now or now-1d/d", c.To)},
		{"from", fromErr != nil || toErr != nil || beginsBefore(c.From, c.To), fmt.Sprintf("%s is not before to, which is %s, so the range would be empty; use an earlier time", c.From, c.To)},
		{"timezone", isZone(c.Timezone), fmt.Sprintf("%q is not a known time zone; use utc, browser, or a name such as Europe/Berlin", c.Timezone)},
	}
}

var refreshPattern = regexp.MustCompile(`^[1-9][0-9]{0,4}[smh]$`)

// shortestRefresh is the default of Grafana's min_refresh_interval.
const shortestRefresh = 5 * time.Second

// validRefresh accepts what all parts of Grafana accept: its page accepts one unit,
// and its API for dashboards no unit longer than hours.
func validRefresh(s string) bool {
	if s == "" {
		return true
	}
	d, err := time.ParseDuration(s)
	return refreshPattern.MatchString(s) && err == nil && d >= shortestRefresh
}

// isZone knows Grafana's own words and the names of the IANA.
func isZone(name string) bool {
	switch name {
	case "utc", "browser":
		return true
	case "", "Local": // which Go knows and Grafana does not
		return false
	}
	_, err := time.LoadLocation(name)
	return err == nil
}

var (
	relativePattern = regexp.MustCompile(`^now((?:[+-][1-9][0-9]{0,4}[smhdwMy])*)(?:/([smhdwMy]))?$`)
	offsetPattern   = regexp.MustCompile(`([+-][0-9]+)([smhdwMy])`)
)

// relative is a time in Grafana's notation.
type relative struct {
	offsets []offset
	// unit is what the time is rounded to; empty for none.
	unit string
}

type offset struct {
	n    int
	unit string
}

func parseRelative(s string) (relative, error) {
	m := relativePattern.FindStringSubmatch(s)
	if m == nil {
		return relative{}, fmt.Errorf("%q is not a time relative to now", s)
	}
	r := relative{unit: m[2]}
	for _, o := range offsetPattern.FindAllStringSubmatch(m[1], -1) {
		n, err := strconv.Atoi(o[1])
		if err != nil {
			return relative{}, err
		}
		r.offsets = append(r.offsets, offset{n, o[2]})
	}
	return r, nil
}

// moments are those at which a range is tried: shortly before and shortly
// after the end of a minute, an hour, a day, a week, a month and a year.
var moments = []time.Time{
	time.Date(2022, time.December, 31, 23, 59, 59, 5e8, time.UTC),
	time.Date(2023, time.January, 1, 0, 0, 0, 5e8, time.UTC),
}

// beginsBefore reports whether a range is ever longer than nothing. Grafana
// rounds the start down and the end up.
func beginsBefore(from, to string) bool {
	start, _ := parseRelative(from)
	end, _ := parseRelative(to)
	for _, now := range moments {
		if start.floor(now).Before(end.ceiling(now)) {
			return true
		}
	}
	return false
}

// at is the time before it is rounded.
func (r relative) at(now time.Time) time.Time {
	for _, o := range r.offsets {
		now = step(now, o.n, o.unit)
	}
	return now
}

func step(t time.Time, n int, unit string) time.Time {
	switch unit {
	case "s":
		return t.Add(time.Duration(n) * time.Second)
	case "m":
		return t.Add(time.Duration(n) * time.Minute)
	case "h":
		return t.Add(time.Duration(n) * time.Hour)
	case "d":
		return t.AddDate(0, 0, n)
	case "w":
		return t.AddDate(0, 0, 7*n)
	case "M":
		return addMonths(t, n)
	default:
		return addMonths(t, 12*n)
	}
}

// addMonths stays in the month, as Grafana does: a month after 31 January is
// the last day of February.
func addMonths(t time.Time, n int) time.Time {
	added := t.AddDate(0, n, 0)
	if overshot := added.Day(); overshot < t.Day() {
		return added.AddDate(0, 0, -overshot)
	}
	return added
}

// floor is the beginning of the unit that the time lies in.
func (r relative) floor(now time.Time) time.Time {
	t := r.at(now)
	year, month, day := t.Date()
	switch r.unit {
	case "":
		return t
	case "s":
		return t.Truncate(time.Second)
	case "m":
		return t.Truncate(time.Minute)
	case "h":
		return t.Truncate(time.Hour)
	case "M":
		day = 1
	case "y":
		month, day = time.January, 1
	case "w":
		day -= int(t.Weekday())
	}
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// ceiling is the end of that unit.
func (r relative) ceiling(now time.Time) time.Time {
	if r.unit == "" {
		return r.at(now)
	}
	return step(r.floor(now), 1, r.unit)
}
