package dashboards

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/query"
)

// replicasOfALock is the fleet that the limit is stated for.
const replicasOfALock = 3

// What a query costs grows with the series that it reads. With recordings, no
// query of the overview reads more than one per lock and replica.
func TestRecordedQueriesReadAtMostOneSeriesPerLockAndReplica(t *testing.T) {
	cfg := Default()
	cfg.Recording = true
	out, err := Overview(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for where, expr := range decoded(t, out).expressions() {
		if n := seriesPerReplica(t, cfg, expr); n > 1 {
			t.Errorf("%s reads %.2f series per lock and replica", where, n)
		}
	}
}

// Without them, these queries read more, and no others do: facts of different
// metrics, counters split by reason, and histograms.
func TestDirectQueriesThatReadMoreAreKnown(t *testing.T) {
	got := map[string]float64{}
	for where, expr := range decoded(t, overview(t)).expressions() {
		if strings.HasSuffix(where, "query "+partRef) {
			continue // asked once, at the end, of what another query asks at each step
		}
		if n := seriesPerReplica(t, Default(), expr); n > 1 {
			got[where] = n
		}
	}
	want := map[string]float64{
		`annotation Leadership won`:                                    2,
		`panel "Attempts by outcome", query NotAcquired`:               8,
		`panel "Attempts that met a backend error, last 10m", query A`: 2,
		`panel "Duration of runs against the lease", query Lease`:      2,
		`panel "Duration of runs against the lease", query Average`:    3,
		`panel "Without a leader", query Now`:                          2,
		`panel "Leaders claimed", query Crowded`:                       2,
		`panel "Lease left", query A`:                                  2,
		`panel "Near or past lease", query Near`:                       5,
		`panel "Near or past lease", query Past`:                       2,
		`panel "Backend errors", query A`:                              3,
		`panel "Too many leaders", query Now`:                          2,
		`panel "Locks", query Errors`:                                  2,
		`panel "Locks", query Left`:                                    2,
		`panel "Locks", query State`:                                   4,
		`panel "Locks, the worst first", query A`:                      4,
		`panel "Near and past the end of the lease", query Near`:       4,
		`panel "Renewals by result", query A`:                          5,
		`panel "Share of the lease used", query Classic`:               8,
		`panel "Terms gained and ended", query Ended`:                  7,
		`panel "Waiting for a lock", query A`:                          3,
		`panel "Who led when", query A`:                                2,
		`panel "Works without lock", query A`:                          3,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("queries that read more than one series of a lock and replica, and how many (-want +got): read less, or add the query with its price\n%s", diff)
	}
}

// The dashboard of one lock reads the series of one lock: its replicas may be
// many, locks are not.
func TestTheLockDashboardReadsOneLock(t *testing.T) {
	out, err := Lock(Default())
	if err != nil {
		t.Fatal(err)
	}
	for where, expr := range decoded(t, out).expressions() {
		for _, s := range selectors(t, expr) {
			m, known := catalog.ByName(s.Name)
			one := slices.ContainsFunc(s.LabelMatchers, func(m *labels.Matcher) bool {
				return m.Name == catalog.LockName.Name() && m.Type == labels.MatchEqual && m.Value == "$lock_name"
			})
			if known && m.PerLock() && !one {
				t.Errorf("%s reads %s of more than one lock", where, s.Name)
			}
		}
	}
}

// seriesPerReplica is the number of different series that a query reads while
// All is chosen, of each lock and each of its replicas. Series of targets, jobs
// and processes do not grow with the locks and count as none.
func seriesPerReplica(t *testing.T, cfg Config, expr string) float64 {
	t.Helper()
	read := map[string]float64{}
	for _, s := range selectors(t, expr) {
		if m, known := catalog.ByName(s.Name); known {
			for _, series := range seriesOf(m, s) {
				read[series] = 1
			}
		} else if recorded, ok := recordedLabels(cfg)[s.Name]; ok && slices.Contains(recorded, catalog.LockName.Name()) {
			read[s.Name] = 1
			// One replica leads at a time, and works.
			one := s.Name == query.RecordedLeading || s.Name == query.RecordedUnprotected || s.Name == query.Facts{Limits: cfg.limits()}.RecordedWorkAfterLoss()
			if one || !slices.Contains(recorded, cfg.Scope.Holder) {
				read[s.Name] = 1.0 / replicasOfALock
			}
		}
	}
	sum := 0.0
	for _, n := range read {
		sum += n
	}
	return sum
}

func selectors(t *testing.T, expr string) []*parser.VectorSelector {
	t.Helper()
	parsed, err := query.Parse(query.Expr(expr))
	if err != nil {
		t.Fatal(err)
	}
	var all []*parser.VectorSelector
	parser.Inspect(parsed, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			all = append(all, s)
		}
		return nil
	})
	return all
}

// seriesOf lists the series of a lock on one replica that a selector matches,
// where histograms are classic. A native one is a single series.
func seriesOf(m *catalog.Metric, s *parser.VectorSelector) []string {
	never := slices.ContainsFunc(s.LabelMatchers, func(m *labels.Matcher) bool { return m.Name == query.NoLabel })
	if !m.PerLock() || never || m.Kind() == catalog.Histogram && s.Name == m.Name() {
		return nil
	}
	all := []map[string]string{{}}
	split := func(label string, values []string) {
		var next []map[string]string
		for _, have := range all {
			for _, v := range values {
				with := maps.Clone(have)
				with[label] = v
				next = append(next, with)
			}
		}
		all = next
	}
	for _, l := range m.Labels() {
		if m != catalog.ElectorInfo { // a replica has one value of each
			split(l.Name(), l.Values())
		}
	}
	if s.Name == m.Bucket() {
		bounds := []string{"+Inf"}
		for _, b := range m.Bounds() {
			bounds = append(bounds, fmt.Sprint(b))
		}
		split(labels.BucketLabel, bounds)
	}
	var names []string
	for _, series := range all {
		if !slices.ContainsFunc(s.LabelMatchers, func(m *labels.Matcher) bool {
			value, has := series[m.Name]
			return has && !m.Matches(value)
		}) {
			names = append(names, s.Name+fmt.Sprint(series))
		}
	}
	return names
}
