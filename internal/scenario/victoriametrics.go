package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/promeval"
)

// Everywhere are the scenarios that mean the same to every tool.
func Everywhere(table []Scenario) []Scenario {
	return slices.DeleteFunc(slices.Clone(table), func(s Scenario) bool { return s.Extrapolated || s.Native })
}

// ForVictoriaMetrics are the scenarios that vmalert-tool runs. Those whose
// verdict rests on first samples are there twice, once with counters that hide
// nothing. Verdicts that differ are known for the default configuration alone:
// for another one the scenario is left out.
func ForVictoriaMetrics(table []Scenario, defaults bool) (all []Scenario) {
	for _, s := range Everywhere(table) {
		v, differs := s.OnVictoriaMetrics()
		if defaults || !differs {
			all = append(all, s)
		}
		if !differs || v.Because != StartsBeside {
			continue
		}
		high := s.WithHistory()
		if _, differs := high.OnVictoriaMetrics(); defaults || !differs {
			all = append(all, high)
		}
	}
	return all
}

// OnVictoriaMetrics is the verdict of VictoriaMetrics under the default
// configuration, where it differs.
func (s Scenario) OnVictoriaMetrics() (Verdict, bool) {
	v, differs := verdictsOfVictoriaMetrics[s.Title()]
	return v, differs
}

// WithHistory is the scenario beside counters so high that VictoriaMetrics does
// not take their first samples for increases.
func (s Scenario) WithHistory() Scenario {
	s.Name += ", and counters stand at thousands"
	s.Raised = 1000
	return s
}

// Verdict is what an engine makes of a scenario where it differs.
type Verdict struct {
	Because Reason
	// Fires has a firing alert a line, as Scenario.Want but without values.
	Fires string
}

// Reason is a property of an engine.
type Reason string

var firingLine = regexp.MustCompile(`^(\w+)/(\w+) (\w+)\.\.(\w*)$`)

// Firings reads what fires.
func (v Verdict) Firings(severityLabel string) (all []promeval.Firing, err error) {
	for line := range strings.Lines(v.Fires) {
		m := firingLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			return nil, fmt.Errorf("%q is not a firing alert; write Name/severity 1m..2m", line)
		}
		f := promeval.Firing{Labels: labels.FromStrings(labels.AlertName, panel.AlertPrefix+m[1], severityLabel, m[2]), Open: m[4] == ""}
		if f.From, err = parseDuration(m[3]); err == nil && !f.Open {
			f.To, err = parseDuration(m[4])
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		all = append(all, f)
	}
	return all, nil
}

func parseDuration(s string) (time.Duration, error) {
	d, err := model.ParseDuration(s)
	return time.Duration(d), err
}

// Why VictoriaMetrics gives another verdict than Prometheus. Source: rollupDelta
// in app/vmselect/promql of VictoriaMetrics; first values of ten and more count
// only where the next sample is far from them.
const (
	// A server that starts, or that sees a label change, reports what small
	// counters did before.
	StartsBeside Reason = "counters stand above zero when the server starts, and their first samples count from zero"
	BornAbove    Reason = "a counter begins above zero while it is watched, and its first sample counts from zero"
)

// verdictsOfVictoriaMetrics are the verdicts of VictoriaMetrics that differ from those
// of Prometheus, by the titles of scenarios.
var verdictsOfVictoriaMetrics = map[string]Verdict{
	"A4 wins have stopped": {StartsBeside, "NoAcquisition/warning 15m.."},
	"A8 a lock declared to run every minute is judged by the window":                    {StartsBeside, "JobOverdue/warning 5m..\nNoAcquisition/warning 15m.."},
	"B6 Prometheus was away for three minutes":                                          {StartsBeside, "Flapping/warning 1m..30m\nLeaseExceeded/critical 0s.."},
	"D1 two replicas take turns":                                                        {StartsBeside, "Flapping/warning 9m.."},
	"D7 Prometheus starts beside ten replicas that have all led before":                 {StartsBeside, "Flapping/warning 1m.."},
	"D8 ten replicas restart one after the other":                                       {StartsBeside, "Flapping/warning 1m.."},
	"C28 a rolling restart of three, born at 0":                                         {StartsBeside, "Flapping/warning 1m.."},
	"C28 a rolling restart of three, born at 1":                                         {StartsBeside, "Flapping/warning 1m.."},
	"C28 a rolling restart of five, 30 s apart":                                         {StartsBeside, "Flapping/warning 1m.."},
	"C28 a rolling restart of two with a gap of one lease":                              {StartsBeside, "Flapping/warning 1m.."},
	"C39 leadership is lost and regained twice between samples":                         {StartsBeside, "Flapping/warning 1m.."},
	"C39 leadership is lost and regained once an hour":                                  {StartsBeside, "Flapping/warning 1m..30m"},
	"E5 attempts that hung for long fail, and none is started":                          {StartsBeside, "BackendErrors/critical 1m30s..\nBackendErrors/warning 5m30s.."},
	"C12 ten pods cancel their calls during a rollout":                                  {StartsBeside, "Flapping/warning 1m.."},
	"C27 errors of short-lived processes before their first sample":                     {BornAbove, "BackendErrors/critical 1m..4m45s\nBackendErrors/critical 6m..9m45s\nBackendErrors/critical 11m..14m45s\nNoAcquisition/warning 5m.."},
	"G4 slow runs of an hour ago, and fast ones since":                                  {StartsBeside, "NearLease/warning 30s.."},
	"G5 a process with overruns of yesterday is first seen":                             {BornAbove, "LeaseExceeded/critical 10m.."},
	"G6 a restart in place starts its counters again":                                   {StartsBeside, "LeaseExceeded/critical 0s..45m"},
	"T6 Prometheus starts beside a process that failed yesterday and runs well now":     {StartsBeside, "TaskFailing/warning 0s.."},
	"T7 Prometheus starts beside a process whose only run failed yesterday":             {StartsBeside, "TaskFailing/warning 0s.."},
	"C27 a process fails before its first sample, and did well before that":             {BornAbove, "TaskFailing/warning 5m.."},
	"K5 a process with regressions of yesterday is first seen":                          {BornAbove, "TokenRegressed/critical 10m.."},
	"C27 a fresh process goes back before its first sample":                             {BornAbove, "TokenRegressed/critical 5m.."},
	"B25 no replica of sixty leads, and each campaigns":                                 {StartsBeside, "NoAcquisition/warning 5m..\nNoLeader/critical 1m30s.."},
	"D12 ten replicas with lasting names restart one after the other":                   {StartsBeside, "Flapping/warning 1m.."},
	"D13 two of twenty replicas fight every minute":                                     {StartsBeside, "Flapping/warning 5m.."},
	"D14 leadership moves every five minutes all day":                                   {StartsBeside, "Flapping/warning 1h30m.."},
	"D15 three deployments of five replicas in six hours":                               {StartsBeside, "Flapping/warning 1m..6h"},
	"L2 a process with overruns of yesterday has none today":                            {StartsBeside, "LeaseExceeded/critical 0s.."},
	"L3 a restart in place starts the overruns again":                                   {StartsBeside, "LeaseExceeded/critical 0s.."},
	"A12 a lock declared to run every four minutes is judged by the window":             {StartsBeside, "JobOverdue/warning 10m..\nNoAcquisition/warning 15m.."},
	"D19 a rollout turns a held lock into one around runs every half minute":            {StartsBeside, "Flapping/warning 8m..34m30s"},
	"T18 one of two runs before the first sample fails, seen by two Prometheus servers": {BornAbove, "TaskFailing/warning 10m.."},
	"T21 Prometheus starts beside a process whose only run failed 90 minutes ago":       {StartsBeside, "TaskFailing/warning 0s.."},
	"D17 seven handovers in a rollout of three: more than it explains":                  {StartsBeside, "Flapping/warning 1m..\nFlapping/warning 30m.."},
}
