package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// played is a phase that was played, and how it ended.
type played struct {
	Number     int
	Title      string
	Begin, End time.Time
	Verdict    verdict
	Err        error // it did not come to its end
}

// report is what the page about a demo is made of.
type report struct {
	Phases []played
	Leads  []span // of replicas
	Faults []span // of replicas and of the job
	Alerts []episode
	Locks  locks
}

//go:embed report.html
var reportText string

//go:embed report.css
var reportStyle string

var reportPage = template.Must(template.New("report").Parse(reportText))

// canWrite reports early that the report's file could not be written: a demo
// takes minutes.
func canWrite(file string) error {
	if file == "" {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".report-")
	if err != nil {
		return fmt.Errorf("--report: %w; name a file in a folder that can be written to, or leave the name empty", err)
	}
	f.Close()
	return os.Remove(f.Name())
}

// report writes the page about what was played, if anything was.
func (d *demo) report(ctx context.Context, file string) error {
	if file == "" || len(d.played) == 0 {
		return nil
	}
	r, err := d.reported(ctx)
	if err != nil {
		return err
	}
	page, err := r.html()
	if err == nil {
		err = writeWhole(file, page, 0o644)
	}
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	if whole, err := filepath.Abs(file); err == nil {
		file = whole
	}
	d.screen.say(reportIsAt, file)
	return nil
}

func (d *demo) reported(ctx context.Context) (report, error) {
	r := report{Phases: d.played, Faults: d.cluster.history.all(), Alerts: d.observer.history(), Locks: d.locks}
	leads := fmt.Sprintf("%s{%s=%q} == 1", catalog.Active.Name(), lockLabel, d.leader)
	var err error
	r.Leads, err = d.observer.spans(ctx, leads, "leads", d.played[0].Begin, d.played[len(d.played)-1].End)
	return r, err
}

// html is the page: one file that needs no other.
func (r report) html() ([]byte, error) {
	var b bytes.Buffer
	err := reportPage.Execute(&b, r.page())
	return b.Bytes(), err
}

// page is the report as text, for the template.
type page struct {
	Style                     template.CSS
	Begin, Took, Locks        string
	Right                     bool
	Ticks, Bands              []bar
	Replicas, Alarms          []lane
	Phases                    []phaseRow
	Faults                    []faultRow
	Alerts                    []alertRow
	LeaderLock, JobLock, Sums string
}

// lane is a row of the timeline.
type lane struct {
	Name, Note, Class string
	Bars              []bar
}

// bar is a part of a lane. Left and Width are percents of the lane.
type bar struct{ Left, Width, Class, Text, Short string }

type phaseRow struct {
	Number                           int
	Title, At, Took, Expected, Fired string
	Notes, Failed                    []string
	Missing, Surplus                 string
	Right                            bool
}

type faultRow struct{ At, Until, Lane, Text string }

type alertRow struct{ At, Until, Name, Severity, Lock, Phase, Summary, Description string }

func (r report) page() page {
	axis := axis{r.Phases[0].Begin, r.Phases[len(r.Phases)-1].End}
	p := page{Style: template.CSS(reportStyle), Right: true,
		Begin: axis.begin.UTC().Format("2006-01-02 15:04:05 MST"), Took: clock(axis.span()), Ticks: axis.ticks()}
	right := 0
	for _, one := range r.Phases {
		row := r.phaseRow(axis, one)
		p.Phases = append(p.Phases, row)
		p.Bands = append(p.Bands, axis.bar(one.Begin, one.End, classOf(row.Right), row.Title, strconv.Itoa(row.Number)))
		if row.Right {
			right++
		}
	}
	p.Right = right == len(r.Phases)
	p.Sums = fmt.Sprintf("%d of %d phases as expected", right, len(r.Phases))
	p.Replicas, p.Alarms = r.lanes(axis), r.alarmLanes(axis)
	for _, f := range r.faults(axis) {
		p.Faults = append(p.Faults, faultRow{axis.at(f.Begin), axis.until(f.End), f.Lane, f.Text})
	}
	for _, e := range r.alerts(axis) {
		p.Alerts = append(p.Alerts, alertRow{axis.at(e.Begin), axis.until(e.End), strings.TrimPrefix(e.Name, prefix), e.Severity, r.lock(e.Lock), r.during(e.Begin), e.Summary, e.Description})
	}
	for _, label := range sortedNames(r.Locks) {
		switch r.Locks[label] {
		case "leader":
			p.LeaderLock = label
		case "job":
			p.JobLock = label
		}
	}
	return p
}

func classOf(right bool) string {
	if right {
		return "right"
	}
	return "wrong"
}

func (r report) lock(label string) string { return cmp.Or(r.Locks[label], label) }

func (r report) phaseRow(a axis, one played) phaseRow {
	v := one.Verdict
	row := phaseRow{Number: one.Number, Title: one.Title, At: a.at(one.Begin), Took: fmt.Sprintf("%.0f s", one.End.Sub(one.Begin).Seconds()),
		Expected: r.Locks.describe(v.expected), Fired: r.Locks.describe(v.fired), Notes: v.notes, Failed: v.failed, Right: v.ok() && one.Err == nil}
	if m := v.missing(); len(m) > 0 {
		row.Missing = r.Locks.describe(m)
	}
	if s := v.surplus(); len(s) > 0 {
		row.Surplus = r.Locks.describe(s)
	}
	if one.Err != nil {
		row.Failed = append(slices.Clone(row.Failed), one.Err.Error())
	}
	return row
}

// during names the phase of a time.
func (r report) during(at time.Time) string {
	for _, one := range r.Phases {
		if !at.Before(one.Begin) && at.Before(one.End) {
			return strconv.Itoa(one.Number)
		}
	}
	return "between phases"
}

// faults are those within the axis.
func (r report) faults(a axis) []span {
	return slices.DeleteFunc(slices.Clone(r.Faults), func(s span) bool { return !a.shows(s.Begin, s.End) })
}

func (r report) alerts(a axis) []episode {
	return slices.DeleteFunc(slices.Clone(r.Alerts), func(e episode) bool { return !a.shows(e.Begin, e.End) })
}

// lanes are one for each replica, and one for the job.
func (r report) lanes(a axis) (all []lane) {
	byLane := map[string][]bar{jobLane: nil}
	for _, s := range r.Leads {
		byLane[s.Lane] = append(byLane[s.Lane], a.bar(s.Begin, s.End, "leads", s.Text, ""))
	}
	for _, s := range r.faults(a) {
		byLane[s.Lane] = append(byLane[s.Lane], a.bar(s.Begin, s.End, "fault", s.Text, ""))
	}
	for _, name := range sortedNames(byLane) {
		if name != jobLane {
			all = append(all, lane{Name: name, Bars: byLane[name]})
		}
	}
	return append(all, lane{Name: "the job", Bars: byLane[jobLane]})
}

// alarmLanes are one for each alert, severity and lock, in the order in which
// they fired first.
func (r report) alarmLanes(a axis) (all []lane) {
	at := map[alarm]int{}
	for _, e := range r.alerts(a) {
		i, known := at[e.alarm]
		if !known {
			i = len(all)
			at[e.alarm] = i
			all = append(all, lane{Name: strings.TrimPrefix(e.Name, prefix), Note: e.Severity + ", " + r.lock(e.Lock), Class: severityClass(e.Severity)})
		}
		all[i].Bars = append(all[i].Bars, a.bar(e.Begin, e.End, severityClass(e.Severity), "fires", ""))
	}
	return all
}

// severityClass is a class of the style sheet.
func severityClass(severity string) string {
	if severity == "critical" {
		return "critical"
	}
	return "warning"
}
