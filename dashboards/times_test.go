package dashboards

import (
	"testing"
	"time"
)

func TestTimesAreThoseThatGrafanaTakes(t *testing.T) {
	for _, c := range []struct {
		what   string
		valid  func(string) bool
		values map[string]bool
	}{
		{"refresh", validRefresh, map[string]bool{
			"": true, "5s": true, "30s": true, "1m": true, "1h": true, "90m": true,
			"4s": false, "1ms": false, "5000ms": false, "1h30m": false, "1d": false, "5": false, "auto": false, "off": false,
			"0s": false, "05s": false, "-5s": false, "5.5s": false, "5S": false, "100000s": false, "5s ": false,
		}},
		{"time zone", isZone, map[string]bool{
			"utc": true, "browser": true, "UTC": true, "Europe/Berlin": true, "America/Argentina/Buenos_Aires": true,
			"": false, "Local": false, "local": false, "Mars/Phobos": false, "Europe/": false, "../etc/passwd": false, "CEST": false, "+02:00": false,
		}},
		{"time", func(s string) bool { _, err := parseRelative(s); return err == nil }, map[string]bool{
			"now": true, "now-3h": true, "now+1h": true, "now/d": true, "now-1d/d": true, "now-1M-2w/y": true,
			"": false, "now-": false, "now-0h": false, "now-3": false, "now-3h/": false, "now/d-1d": false, "now-3H": false,
			"now-100000d": false, "now -3h": false, "3h": false, "yesterday": false, "2026-01-01": false,
		}},
	} {
		for value, want := range c.values {
			if c.valid(value) != want {
				t.Errorf("%s %q: valid is %t, want %t", c.what, value, !want, want)
			}
		}
	}
}

func TestARangeThatIsAlwaysEmptyIsRefused(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"now-3h", "now", true},
		{"now", "now-3h", false},
		{"now-3h", "now-3h", false},
		{"now-1s", "now", true},
		{"now/s", "now", true},
		{"now/m", "now", true},
		{"now/h", "now", true},
		{"now/d", "now/d", true},
		{"now/d", "now", true},
		{"now/d", "now-1h", true}, // but for the first hour of a day
		{"now-1d/d", "now-1d/d", true},
		{"now/d", "now-1d/d", false},
		{"now/w", "now-1w/w", false},
		{"now-1w/w", "now-1w/w", true},
		{"now/w", "now-6d", true},    // on a Saturday
		{"now-1h", "now-1d/d", true}, // in the first hour of a day
		{"now/M", "now-1M/M", false},
		{"now/M", "now-13d", true},
		{"now/y", "now-1y/y", false},
		{"now/y", "now-6M", true},
		{"now-1M", "now-32d", false},
		{"now-2M", "now-32d", true},
		{"now-1w", "now-7d", false},
		{"now-8d", "now-1w", true},
		{"now-1d+23h", "now-1h", false},
		{"now-1d+22h", "now-1h", true},
		{"now-2y", "now-24M", false},
		{"now-61m", "now-1h", true},
		{"now-3600s", "now-60m", false},
	} {
		if got := beginsBefore(c.from, c.to); got != c.want {
			t.Errorf("%s to %s: got %t, want %t", c.from, c.to, got, c.want)
		}
	}
}

func TestAMonthLaterIsInTheNextMonth(t *testing.T) {
	for _, c := range []struct {
		day  string
		n    int
		want string
	}{
		{"2026-01-31", 1, "2026-02-28"},
		{"2024-02-29", 12, "2025-02-28"},
		{"2026-12-31", -1, "2026-11-30"},
		{"2026-07-15", -1, "2026-06-15"},
		{"2026-07-31", 1, "2026-08-31"},
	} {
		day, err := time.Parse(time.DateOnly, c.day)
		if err != nil {
			t.Fatal(err)
		}
		if got := addMonths(day, c.n).Format(time.DateOnly); got != c.want {
			t.Errorf("%s and %d months: got %s, want %s", c.day, c.n, got, c.want)
		}
	}
}

func TestGrafanaRoundsTheStartDownAndTheEndUp(t *testing.T) {
	now := time.Date(2026, time.July, 15, 12, 34, 56, 789, time.UTC) // a Wednesday
	for s, want := range map[string][2]string{
		"now":                {"2026-07-15 12:34:56", "2026-07-15 12:34:56"},
		"now/s":              {"2026-07-15 12:34:56", "2026-07-15 12:34:57"},
		"now/m":              {"2026-07-15 12:34:00", "2026-07-15 12:35:00"},
		"now/h":              {"2026-07-15 12:00:00", "2026-07-15 13:00:00"},
		"now/d":              {"2026-07-15 00:00:00", "2026-07-16 00:00:00"},
		"now/w":              {"2026-07-12 00:00:00", "2026-07-19 00:00:00"},
		"now/M":              {"2026-07-01 00:00:00", "2026-08-01 00:00:00"},
		"now/y":              {"2026-01-01 00:00:00", "2027-01-01 00:00:00"},
		"now-1M/M":           {"2026-06-01 00:00:00", "2026-07-01 00:00:00"},
		"now+2w-1d-1h+1m-1s": {"2026-07-28 11:35:55", "2026-07-28 11:35:55"},
		"now-1y":             {"2025-07-15 12:34:56", "2025-07-15 12:34:56"},
	} {
		r, err := parseRelative(s)
		if err != nil {
			t.Fatal(err)
		}
		got := [2]string{r.floor(now).Format(time.DateTime), r.ceiling(now).Format(time.DateTime)}
		if got != want {
			t.Errorf("%s: got %v, want %v", s, got, want)
		}
	}
}
