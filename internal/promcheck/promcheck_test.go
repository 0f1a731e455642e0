package promcheck

import (
	"errors"
	"strings"
	"testing"
)

func TestExprReportsWhatTheParserLetsPass(t *testing.T) {
	cases := map[string]struct {
		expr string
		opts []Option
		want string // part of the only problem; empty: none
	}{
		"a panel's rate":                         {expr: `sum by (lock_name) (rate(leader_attempts_total{job=~"$job"}[$__rate_interval]))`},
		"a gauge by lock":                        {expr: `max by (lock_name) (leader_active)`},
		"a quantile over buckets":                {expr: `histogram_quantile(0.99, sum by (lock_name, le) (rate(leader_execution_duration_seconds_bucket[5m])))`},
		"a quantile over a native histogram":     {expr: `histogram_quantile(0.99, sum by (lock_name) (rate(leader_execution_duration_seconds[5m])))`},
		"a join with targets":                    {expr: `max by (job, lock_name) (leader_active) == 0 unless on (job) up == 0`},
		"a metric of the process":                {expr: `max by (job) (leader_redaction_info)`},
		"the number of locks":                    {expr: `count(count by (lock_name) (leader_active))`, opts: []Option{AcrossLocks()}},
		"a counter that is looked for":           {expr: `absent(leader_attempts_total{job="a"})`},
		"a counter that leaves series out":       {expr: `leader_active unless leader_attempts_total offset 5m`},
		"a metric of another exporter, declared": {expr: `process_start_time_seconds{instance="a"}`, opts: []Option{Foreign("process_start_time_seconds")}},
		"a regular expression of reasons":        {expr: `rate(leader_not_acquired_total{reason=~"timeout|canceled"}[5m])`},

		"text that is no expression":             {expr: `sum by (`, want: "unclosed left parenthesis"},
		"an unknown metric":                      {expr: `leader_actve`, want: "not a metric of the catalogue"},
		"a metric by another name matcher":       {expr: `{__name__="leader_actve"}`, want: "not a metric of the catalogue"},
		"an unknown label":                       {expr: `leader_active{lock="x"}`, want: "has no label lock"},
		"a label of another target":              {expr: `leader_active{pod="x"}`, opts: []Option{TargetLabels("job", "instance")}, want: "has no label pod"},
		"a value that no series has":             {expr: `rate(leader_not_acquired_total{reason="backend-error"}[5m])`, want: "no value of reason matches"},
		"a counter as it is":                     {expr: `leader_attempts_total`, want: "below rate or increase"},
		"a count of observations as it is":       {expr: `leader_lease_usage_ratio_count`, want: "below rate or increase"},
		"a counter that others leave series out": {expr: `leader_attempts_total unless up`, want: "below rate or increase"},
		"a counter's delta":                      {expr: `delta(leader_attempts_total[5m])`, want: "use rate or increase"},
		"a gauge's rate":                         {expr: `rate(leader_active[5m])`, want: "is a gauge"},
		"an average over locks":                  {expr: `avg(leader_active)`, want: "merges locks"},
		"a sum without the lock":                 {expr: `sum without (lock_name) (leader_active)`, want: "merges locks"},
		"a join of different locks":              {expr: `leader_active * on (job) leader_max_leaders`, want: "matches different locks"},
		"a join that ignores the lock":           {expr: `leader_active * ignoring (lock_name) leader_max_leaders`, want: "matches different locks"},
		"a join that cannot match":               {expr: `max by (lock_name) (leader_active) > max by (job, lock_name) (leader_max_leaders)`, want: "can never match"},
		"a bucket that does not exist":           {expr: `rate(leader_lease_usage_ratio_bucket{le="0.85"}[5m])`, want: "has no bucket"},
		"a bound as a regular expression":        {expr: `rate(leader_lease_usage_ratio_bucket{le=~"0.8"}[5m])`, want: "compare le with one bound"},
		"a bucket label on the count":            {expr: `rate(leader_lease_usage_ratio_count{le="0.8"}[5m])`, want: "has no label le"},
		"a rate of a sum through a subquery":     {expr: `rate(max by (lock_name) (leader_active)[5m:])`, want: "is a gauge"},
		"an experimental function of some time":  {expr: `sort_by_label(leader_active, "lock_name")`, want: "sort_by_label"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { compare(t, Expr(c.expr, c.opts...), c.want) })
	}
}

func TestRecordedSeriesAreCheckedLikeOthers(t *testing.T) {
	recorded := Recorded(map[string][]string{
		"lock:leader_active:sum":               {"job", "lock_name"},
		"job:leader_attempts:rate2m":           {"job"},
		"holder:leader_lease_usage_near:count": {"job", "lock_name", "instance"},
	})
	cases := map[string]struct {
		expr string
		opts []Option
		want string // part of the only problem; empty: none
	}{
		"a recorded gauge":                   {expr: `max by (job, lock_name) (lock:leader_active:sum{job="a"})`},
		"a recorded counter":                 {expr: `increase(holder:leader_lease_usage_near:count[5m])`},
		"a job's series where All is chosen": {expr: `job:leader_attempts:rate2m{lock_name=~"$lock_name"}`},
		"nothing where All is chosen":        {expr: `leader_active{__none__!~"$lock_name"}`},
		"a rule that is a counter itself":    {expr: `max by (lock_name) (leader_attempts_total)`, opts: []Option{Cumulative()}},

		"a series that nothing records": {expr: `lock:leader_active:min`, want: "not a metric of the catalogue"},
		"a label that was not kept":     {expr: `lock:leader_active:sum{instance="a"}`, want: "has no label instance"},
		"one lock of a job's series":    {expr: `job:leader_attempts:rate2m{lock_name="a"}`, want: "has no label lock_name"},
		"a recorded counter as it is":   {expr: `holder:leader_lease_usage_near:count`, want: "below rate or increase"},
		"locks that are merged":         {expr: `sum by (job) (lock:leader_active:sum)`, want: "merges locks"},
		"locks that are mixed up":       {expr: `lock:leader_active:sum * on (job) leader_max_leaders`, want: "matches different locks"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { compare(t, Expr(c.expr, append(c.opts, recorded)...), c.want) })
	}
}

func TestRuleReportsTextsAndIdentitiesThatFail(t *testing.T) {
	good := `max by (job, lock_name) (leader_active) == 0`
	cases := map[string]struct {
		alert Alert
		want  string
	}{
		"an alert with a text of its labels": {alert: Alert{Expr: good, Labels: map[string]string{"severity": "critical"},
			Annotations: map[string]string{"summary": "{{ $labels.lock_name }} of {{ $labels.job }}: {{ $value }}"}}},
		"labels that a join brings": {alert: Alert{Expr: `leader_active * on (lock_name) group_left (family) leader_elector_info == 1`,
			Annotations: map[string]string{"summary": "{{ $labels.family }}"}}},
		"absence": {alert: Alert{Expr: `absent(leader_attempts_total{job="a",lock_name="x"})`, Annotations: map[string]string{"summary": "{{ $labels.job }}"}}},

		"a label of one side of or that is asked for": {alert: Alert{Expr: `max by (job, lock_name) (leader_active) == 0 or absent(leader_active{lock_name="x"})`,
			Annotations: map[string]string{"summary": "{{ $labels.lock_name }}{{ with $labels.job }} of job {{ . }}{{ end }}"}}},

		"a label of one side of or": {alert: Alert{Expr: `max by (job, lock_name) (leader_active) == 0 or absent(leader_active{lock_name="x"})`,
			Annotations: map[string]string{"summary": "{{ $labels.job }}"}}, want: "names the label job"},
		"a label of neither side of or": {alert: Alert{Expr: `max by (job, lock_name) (leader_active) == 0 or absent(leader_active{lock_name="x"})`,
			Annotations: map[string]string{"summary": "{{ with $labels.cluster }}{{ . }}{{ end }}"}}, want: "names the label cluster"},
		"a label that hides that of one side": {alert: Alert{Expr: `max by (job, lock_name) (leader_active) == 0 or absent(leader_active{lock_name="x"})`,
			Labels: map[string]string{"job": "b"}}, want: "hides the label"},
		"no filter":                    {alert: Alert{Expr: `max by (lock_name) (leader_active)`}, want: "fire for every series"},
		"a comparison that only tells": {alert: Alert{Expr: `max by (lock_name) (leader_active) == bool 0`}, want: "fire for every series"},
		"a label that was aggregated away": {alert: Alert{Expr: good, Annotations: map[string]string{"summary": "{{ $labels.instance }}"}},
			want: "names the label instance"},
		"a label lost by on": {alert: Alert{Expr: `leader_active > on (lock_name) leader_max_leaders`, Annotations: map[string]string{"summary": "{{ $labels.job }}"}},
			want: "names the label job"},
		"a value in a label":             {alert: Alert{Expr: good, Labels: map[string]string{"n": "{{ $value }}"}}, want: "each evaluation a new alert"},
		"a label that hides another":     {alert: Alert{Expr: good, Labels: map[string]string{"job": "b"}}, want: "hides the label"},
		"an alert that forgets the lock": {alert: Alert{Expr: `sum by (job) (leader_active) == 0`}, want: "merges locks"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { compare(t, Rule(c.alert), c.want) })
	}
}

func compare(t *testing.T, got []error, want string) {
	t.Helper()
	all := errors.Join(got...)
	switch {
	case want == "" && all != nil:
		t.Errorf("want no problem, got %v", all)
	case want != "" && (all == nil || !strings.Contains(all.Error(), want)):
		t.Errorf("want %q, got %v", want, all)
	}
}
