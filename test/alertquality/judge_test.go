package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/internal/promeval"
	"github.com/leaderscope/leaderscope/test/alertquality/fleet"
)

func at(from, to int) fleet.Span {
	return fleet.Span{From: time.Duration(from) * time.Second, To: time.Duration(to) * time.Second}
}

func firings(spans ...fleet.Span) (out []firing) {
	for _, s := range spans {
		out = append(out, firing{Span: s})
	}
	return out
}

func TestFiguresComeFromFaultsAndFirings(t *testing.T) {
	j := judgedRule{key: "NoLeader critical", fault: leaderless, late: 2 * time.Minute}
	type want struct {
		Detection, Reset []int
		Seen, Faults     []int
		Wrong            int
	}
	cases := map[string]struct {
		faults  []fleet.Span
		fired   []firing
		fromEnd bool
		want    want
	}{
		"nothing happens":        {want: want{Seen: []int{0, 0, 0, 0}, Faults: []int{0, 0, 0, 0}}},
		"seen in time":           {faults: []fleet.Span{at(100, 300)}, fired: firings(at(160, 330)), want: want{[]int{60}, []int{30}, []int{0, 0, 1, 0}, []int{0, 0, 1, 0}, 0}},
		"missed":                 {faults: []fleet.Span{at(100, 130)}, want: want{nil, nil, []int{0, 0, 0, 0}, []int{1, 0, 0, 0}, 0}},
		"too short to count":     {faults: []fleet.Span{at(100, 109)}, fired: firings(at(105, 120)), want: want{nil, nil, []int{0, 0, 0, 0}, []int{0, 0, 0, 0}, 0}},
		"seen when it was over":  {faults: []fleet.Span{at(100, 150)}, fired: firings(at(200, 230)), want: want{[]int{100}, []int{80}, []int{1, 0, 0, 0}, []int{1, 0, 0, 0}, 0}},
		"long after it was over": {faults: []fleet.Span{at(100, 150)}, fired: firings(at(271, 280)), want: want{nil, nil, []int{0, 0, 0, 0}, []int{1, 0, 0, 0}, 1}},
		"for nothing":            {fired: firings(at(200, 230)), want: want{nil, nil, []int{0, 0, 0, 0}, []int{0, 0, 0, 0}, 1}},
		"twice in one fault":     {faults: []fleet.Span{at(100, 900)}, fired: firings(at(160, 330), at(400, 950)), want: want{[]int{60}, []int{50}, []int{0, 0, 0, 1}, []int{0, 0, 0, 1}, 0}},
		"fires since an earlier fault": {faults: []fleet.Span{at(100, 200), at(250, 420)}, fired: firings(at(150, 450)),
			want: want{[]int{50}, []int{250, 30}, []int{0, 1, 1, 0}, []int{0, 1, 1, 0}, 0}},
		"counted from the end": {faults: []fleet.Span{at(100, 300)}, fired: firings(at(340, 630)), fromEnd: true, want: want{[]int{40}, []int{330}, []int{0, 0, 1, 0}, []int{0, 0, 1, 0}, 0}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			j := j
			j.fromEnd = c.fromEnd
			g := newFigures(j.fault)
			g.judge(j, &fleet.History{Free: c.faults}, c.fired)
			got := want{whole(g.detection), whole(g.reset), g.seen, g.faults, g.wrong}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}

func whole(all []time.Duration) (out []int) {
	for _, d := range all {
		out = append(out, int(d.Seconds()))
	}
	return out
}

func TestPagesAreWhatTheInhibitionRulesLetThrough(t *testing.T) {
	mutes, err := inhibitions(alerts.Default())
	if err != nil {
		t.Fatal(err)
	}
	fired := func(name, severity, lock string, span fleet.Span) firing {
		return firing{
			rule:   &rule{key: name + " " + severity, severity: severity},
			labels: labels.FromStrings("alertname", alerts.Prefix+name, "severity", severity, "job", "a", "lock_name", lock), Span: span,
		}
	}
	cases := map[string]struct {
		fired []firing
		want  []string
	}{
		"a page":                             {[]firing{fired("NoLeader", "critical", "x", at(100, 200))}, []string{"NoLeader critical 1m40s"}},
		"no page":                            {[]firing{fired("ScrapeFailing", "warning", "x", at(100, 200))}, nil},
		"muted from the beginning":           {[]firing{fired("NoLeader", "critical", "x", at(100, 200)), fired("BackendErrors", "critical", "x", at(90, 300))}, []string{"BackendErrors critical 1m30s"}},
		"muted within the wait":              {[]firing{fired("NoLeader", "critical", "x", at(100, 200)), fired("BackendErrors", "critical", "x", at(110, 300))}, []string{"BackendErrors critical 1m50s"}},
		"muted too late":                     {[]firing{fired("NoLeader", "critical", "x", at(100, 200)), fired("BackendErrors", "critical", "x", at(115, 300))}, []string{"NoLeader critical 1m40s", "BackendErrors critical 1m55s"}},
		"muted for a while":                  {[]firing{fired("NoLeader", "critical", "x", at(100, 400)), fired("BackendErrors", "critical", "x", at(90, 250))}, []string{"BackendErrors critical 1m30s", "NoLeader critical 4m10s"}},
		"another lock mutes nothing":         {[]firing{fired("NoLeader", "critical", "x", at(100, 200)), fired("BackendErrors", "critical", "y", at(90, 300))}, []string{"BackendErrors critical 1m30s", "NoLeader critical 1m40s"}},
		"a warning does not mute the page":   {[]firing{fired("NoLeader", "critical", "x", at(100, 200)), fired("BackendErrors", "warning", "x", at(90, 300))}, []string{"NoLeader critical 1m40s"}},
		"rules found elsewhere mute nothing": {[]firing{fired("NoLeader", "critical", "x", at(100, 200)), {rule: &rule{foreign: true}, labels: labels.FromStrings("alertname", alerts.Prefix+"BackendErrors", "severity", "critical", "job", "a", "lock_name", "x"), Span: at(90, 300)}}, []string{"NoLeader critical 1m40s"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range pages(c.fired, mutes, 15*time.Second) {
				got = append(got, p.rule.key+" "+p.at.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}

// A server that restarts forgets what was pending, and what fired fires again.
func TestARestartOfTheServerForgetsWhatWasPending(t *testing.T) {
	h := &fleet.History{Restarts: []fleet.Span{at(300, 360)}}
	r := &rule{Rule: promeval.Rule{Name: "X", For: time.Minute}}
	s := &alertState{}
	var got []firing
	for now := time.Duration(0); now < 10*time.Minute; now += 30 * time.Second {
		got = s.step(r, h, now, 1, now >= 90*time.Second, got)
	}
	got = append(got, s.fired(r, 10*time.Minute))
	var spans []fleet.Span
	for _, f := range got {
		spans = append(spans, f.Span)
	}
	if diff := cmp.Diff([]fleet.Span{at(150, 300), at(420, 600)}, spans); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

func TestFiguresThatAreWorseThanRecordedAreNamed(t *testing.T) {
	recorded := func() bounds {
		return bounds{PagesPerIncident: 120, Rules: map[string]bound{"A": {Detection: 60, Seen: []int{1, 5}, Faults: []int{3, 5}, FalseCalm: 1}}}
	}
	cases := map[string]struct {
		change        func(*bound, *bounds)
		worse, better string
	}{
		"the same":           {change: func(*bound, *bounds) {}},
		"later":              {change: func(b *bound, _ *bounds) { b.Detection = 61 }, worse: "A: detection p95 in seconds: 61, recorded 60"},
		"sooner":             {change: func(b *bound, _ *bounds) { b.Detection = 30 }, better: "A: detection p95 in seconds: 30, recorded 60"},
		"less seen":          {change: func(b *bound, _ *bounds) { b.Seen = []int{1, 4} }, worse: "A: faults seen of length class 2: 4, recorded 5"},
		"more seen":          {change: func(b *bound, _ *bounds) { b.Seen = []int{2, 5} }, better: "A: faults seen of length class 1: 2, recorded 1"},
		"falsely, in calm":   {change: func(b *bound, _ *bounds) { b.FalseCalm = 2 }, worse: "A: false on the calm mix: 2, recorded 1"},
		"falsely, in stress": {change: func(b *bound, _ *bounds) { b.FalseStress = 1 }, worse: "A: false on the stress mix: 1, recorded 0"},
		"more pages":         {change: func(_ *bound, b *bounds) { b.PagesPerIncident = 121 }, worse: "pages per incident, in hundredths: 121, recorded 120"},
		"a stray page":       {change: func(_ *bound, b *bounds) { b.StrayPages = 1 }, worse: "pages outside of incidents: 1, recorded 0"},
		"a rule is gone":     {change: func(_ *bound, b *bounds) { b.Rules = nil }, worse: "A: is not there any more"},
		"the worlds changed": {change: func(b *bound, _ *bounds) { b.Faults = []int{3, 6} }, worse: "A: the worlds have faults [3 6], recorded [3 5]: the simulation has changed, record it again"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := recorded()
			one := got.Rules["A"]
			c.change(&one, &got)
			if got.Rules != nil {
				got.Rules["A"] = one
			}
			worse, better := got.compare(recorded())
			if diff := cmp.Diff([]string{c.worse, c.better}, []string{strings.Join(worse, "\n"), strings.Join(better, "\n")}); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}
