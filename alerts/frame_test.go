package alerts

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
)

// Everything in the documents that follows from the descriptors of the alerts
// stands between marks, and is written by go test ./alerts -update.

const (
	begin = "<!-- From the alerts' descriptors; go test ./alerts -update writes it again. -->\n"
	end   = "<!-- End. -->\n"
)

// documents are the files with such parts, and what belongs there.
func documents(t *testing.T) map[string]string {
	t.Helper()
	docs := map[string]string{"README.md": rows(t, false), "../README.md": rows(t, true)}
	c := Default()
	c.Alerts.each(func(key string, a alert) {
		docs[filepath.Join("runbooks", Prefix+a.about().Alert+".md")] = knobTable(key)
	})
	return docs
}

// rows are the table of all alerts.
func rows(t *testing.T, full bool) string {
	t.Helper()
	out := "\n| alert | severity | fires when |\n|---|---|---|\n"
	prefix, folder := "", "runbooks/"
	if full {
		prefix, folder = Prefix, "alerts/runbooks/"
	}
	c := Default()
	c.Alerts.each(func(_ string, a alert) {
		name := a.about().Alert
		out += fmt.Sprintf("| [%s%s](%s%s%s.md) | %s | %s |\n", prefix, name, folder, Prefix, name, strings.Join(severities(t, name), ", "), a.about().fires)
	})
	return out + "\n"
}

// severities of an alert, each once, the worst first.
func severities(t *testing.T, name string) (all []string) {
	t.Helper()
	for _, r := range rulesOf(t, Default()) {
		if r.Name == Prefix+name && !slices.Contains(all, r.Severity) {
			all = append(all, r.Severity)
		}
	}
	slices.Sort(all)
	return all
}

// knobTable lists the knobs of an alert with their defaults.
func knobTable(key string) string {
	out := fmt.Sprintf("\n| `alerts.%s` | default | |\n|---|---|---|\n", key)
	for _, k := range Keys() {
		if knob, own := strings.CutPrefix(k.Path, key+"."); own && k.Default != "" {
			out += fmt.Sprintf("| `%s` | %s | %s |\n", knob, k.Default, k.Comment)
		}
	}
	return out + "\n"
}

func TestDocumentsCarryWhatTheAlertsSay(t *testing.T) {
	for path, want := range documents(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		before, rest, ok := strings.Cut(string(text), begin)
		got, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Errorf("%s lacks the marks; put them below ## Tuning and run go test ./alerts -update:\n%s%s", path, begin, end)
			continue
		}
		if *update {
			if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: run go test ./alerts -update (want -, got +)\n%s", path, diff)
		}
	}
}

// measure is a number with a unit, as prose spells it.
var measure = regexp.MustCompile(`\b([0-9]+(?:\.[0-9]+)?) ?(%|ms|seconds?|minutes?|hours?|days?|times|intervals|s|m|h|d)(?:\b|\B)`)

// free are numbers of a runbook that are no default of its alert.
var free = map[string][]string{
	"NoLeader":   {"75 seconds"},   // the longest time between samples and a quarter
	"SplitBrain": {"2 minutes"},    // window and for
	"NearLease":  {"80 %", "84 %"}, // bounds of buckets
}

// TestNumbersInRunbooksAreDefaults holds prose to the configuration.
func TestNumbersInRunbooksAreDefaults(t *testing.T) {
	c := Default()
	c.Alerts.each(func(key string, a alert) {
		name := a.about().Alert
		var defaults []string
		for _, k := range Keys() {
			if strings.HasPrefix(k.Path, key+".") {
				defaults = append(defaults, k.Default)
			}
		}
		text, err := os.ReadFile(filepath.Join("runbooks", Prefix+name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		prose := regexp.MustCompile("(?s)```.*?```|"+regexp.QuoteMeta(begin)+".*?"+regexp.QuoteMeta(end)).ReplaceAllString(string(text), "")
		for _, m := range measure.FindAllStringSubmatch(prose, -1) {
			if !slices.Contains(free[name], m[0]) && !slices.ContainsFunc(defaults, func(d string) bool { return sameMeasure(d, m[1], m[2]) }) {
				t.Errorf("runbook of %s: %q is no default of its knobs %v", name, m[0], defaults)
			}
		}
	})
}

// sameMeasure reports whether a default is that number of a unit.
func sameMeasure(d, number, unit string) bool {
	switch unit = strings.TrimSuffix(unit, "s"); unit {
	case "%":
		return d == strings.TrimSuffix(fmt.Sprintf("%.2g", atof(number)/100), "0")
	case "time", "interval":
		return d == number
	}
	scale := map[string]time.Duration{"": time.Second, "second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour,
		"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[unit]
	parsed, err := model.ParseDuration(d)
	return err == nil && scale > 0 && time.Duration(parsed) == time.Duration(atof(number)*float64(scale))
}

func atof(s string) (f float64) {
	fmt.Sscan(s, &f)
	return f
}
