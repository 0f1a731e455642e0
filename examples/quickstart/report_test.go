package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

var begun = time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)

func after(seconds float64) time.Time {
	return begun.Add(time.Duration(seconds * float64(time.Second)))
}

// someReport has a phase of each kind: as expected, not as expected, and one that
// did not come to its end.
func someReport() report {
	leader := alarm{prefix + "NoLeader", "critical", "h1"}
	absent := alarm{prefix + "MetricsAbsent", "warning", ""}
	return report{
		Locks: locks{"h1": "leader", "h2": "job", "": "service"},
		Phases: []played{
			{Number: 2, Title: "The leader is killed", Begin: begun, End: after(20),
				Verdict: verdict{expected: []alarm{leader}, fired: []alarm{leader}, notes: []string{"replica-1 was killed"}}},
			{Number: 11, Title: "Another fault", Begin: after(20), End: after(50),
				Verdict: verdict{expected: []alarm{leader}, fired: []alarm{absent}, failed: []string{"the gauge was 1"}}},
			{Number: 12, Title: "One without an end", Begin: after(50), End: after(100), Err: errors.New("waited 1m0s for one leader")},
		},
		Leads: []span{
			{"replica-1", "leads", begun, after(5)},
			{"replica-2", "leads", after(9), after(101)},
		},
		Faults: []span{
			{"replica-3", "killed", after(-20), after(-10)}, // before all that is shown
			{"replica-1", isKilled, after(5), after(15)},
			{"job", "rests", after(25), after(45)},
			{"replica-4", isAnother, after(60), time.Time{}},
		},
		Alerts: []episode{
			{leader, "Lock h1 has no leader", "It has had no leader for 5s.", after(8), after(12)},
			{absent, "No metrics", "None for 20s.", after(-5), after(-1)},
			{absent, "No metrics", "None for 20s.", after(30), time.Time{}},
			{leader, "Lock h1 has no leader", "It has had no leader for 6s.", after(60), after(120)},
		},
	}
}

func TestReport(t *testing.T) {
	got, err := someReport().html()
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/report.html"
	if *update {
		if err := writeWhole(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs; if this is meant, run go test ./examples/quickstart -run TestReport -update (-want +got):\n%s", golden, diff)
	}
}

// Texts stay text on the page, and change nothing else of it.
func TestEveryTextOnTheReportIsEscaped(t *testing.T) {
	canaries := []string{`</title></style><script>alert(1)</script>`, `" onmouseover="alert(1)`, `';alert(1)//`, "&lt;b&gt;", "{{.Style}}", "javascript:alert(1)"}
	plain := structure(t, textsOf(someReport(), "x"))
	for _, canary := range canaries {
		if diff := cmp.Diff(plain, structure(t, textsOf(someReport(), canary))); diff != "" {
			t.Errorf("%q changes the page: %s", canary, diff)
		}
	}
}

// textsOf replaces every text of a report.
func textsOf(r report, text string) report {
	a := alarm{text, text, text}
	r.Locks = locks{text: text, text + "2": "leader", text + "3": "job"}
	for i := range r.Phases {
		r.Phases[i].Title = text
		r.Phases[i].Verdict = verdict{expected: []alarm{a}, fired: []alarm{{text, "critical", "h"}}, notes: []string{text}, failed: []string{text}}
		r.Phases[i].Err = errors.New(text)
	}
	for i := range r.Leads {
		r.Leads[i].Lane, r.Leads[i].Text = text, text
	}
	for i := range r.Faults {
		r.Faults[i].Lane, r.Faults[i].Text = text, text
	}
	for i, e := range r.Alerts {
		r.Alerts[i] = episode{a, text, text, e.Begin, e.End}
	}
	return r
}

// structure is the elements of the page and the names of their attributes.
func structure(t *testing.T, r report) (all []string) {
	t.Helper()
	page, err := r.html()
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(bytes.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			names := e.Name.Local
			for _, a := range e.Attr {
				names += " " + a.Name.Local
			}
			all = append(all, names)
		}
	}
}

func TestTheReportNeedsNoOtherFile(t *testing.T) {
	page, err := someReport().html()
	if err != nil {
		t.Fatal(err)
	}
	foreign := regexp.MustCompile(`(?i)https?:|src=|<link|<script|<iframe|@import|url\(|href="[^#]`)
	if found := foreign.FindAllString(string(page), -1); found != nil {
		t.Errorf("it names %q", found)
	}
}

func TestAxisPlacesTimes(t *testing.T) {
	a := axis{begun, after(200)}
	for name, c := range map[string]struct {
		begin, end time.Time
		want       bar
		shown      bool
	}{
		"in the middle":        {after(50), after(100), bar{"25.00", "25.00", "c", "x, 0:50 to 1:40", "s"}, true},
		"from before":          {after(-50), after(100), bar{"0.00", "50.00", "c", "x, 0:00 to 1:40", "s"}, true},
		"lasts":                {after(150), time.Time{}, bar{"75.00", "25.00", "c", "x, 2:30 to the end", "s"}, true},
		"ends later":           {after(150), after(300), bar{"75.00", "25.00", "c", "x, 2:30 to the end", "s"}, true},
		"over before":          {after(-50), after(-1), bar{"0.00", "0.00", "c", "x, 0:00 to 0:00", "s"}, false},
		"begins after the end": {after(200), time.Time{}, bar{"100.00", "0.00", "c", "x, 3:20 to the end", "s"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, a.bar(c.begin, c.end, "c", "x", "s")); diff != "" {
				t.Error(diff)
			}
			if got := a.shows(c.begin, c.end); got != c.shown {
				t.Errorf("shown: %v, want %v", got, c.shown)
			}
		})
	}
}

func TestTicksAreAtMostSixRoundTimes(t *testing.T) {
	for span, want := range map[time.Duration]string{
		0:                 "0:00",
		6 * time.Second:   "0:00 0:05",
		29 * time.Second:  "0:00 0:05 0:10 0:15 0:20 0:25",
		30 * time.Second:  "0:00 0:05 0:10 0:15 0:20 0:25",
		31 * time.Second:  "0:00 0:10 0:20 0:30",
		172 * time.Second: "0:00 0:30 1:00 1:30 2:00 2:30",
		250 * time.Second: "0:00 1:00 2:00 3:00 4:00",
		2 * time.Hour:     "0:00 20:00 40:00 60:00 80:00 100:00",
	} {
		var got []string
		for _, tick := range (axis{begun, begun.Add(span)}).ticks() {
			got = append(got, tick.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%v: %v, want %s", span, got, want)
		}
	}
}

func TestHistoryOfCommands(t *testing.T) {
	var h history
	for _, c := range []struct{ name, command string }{
		{"replica-1", "member stop"}, {"replica-1", "member stop"}, {"replica-2", "member start"},
		{"replica-1", "job 0.84"}, {"replica-2", "job 0.84"}, {"replica-1", "job fail"}, {"replica-2", "job -1"}, {"replica-1", "job 0.1"},
		{"replica-1", "member start"}, {"replica-3", "campaign off"}, {"replica-2", "campaign on"}, {"replica-1", "job 2"},
	} {
		h.told(c.name, c.command)
	}
	type state struct {
		lane, text string
		lasts      bool
	}
	want := []state{
		{"replica-1", withoutEtcd, false}, {"job", "takes 84 % of its lease", false}, {"job", "fails each time", false},
		{"job", "rests", false}, {"replica-3", withoutVoice, true}, {"job", "takes 200 % of its lease", true},
	}
	var got []state
	for _, s := range h.all() {
		got = append(got, state{s.Lane, s.Text, s.End.IsZero()})
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(state{})); diff != "" {
		t.Error(diff)
	}
}
