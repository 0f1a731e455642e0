package catalog

import (
	"slices"
	"strings"
	"testing"
)

// Rules, dashboards and recorded data rest on the bounds: another one is
// another metric.
func TestTheBoundsStay(t *testing.T) {
	bounds := map[string][]float64{
		AcquireDuration.Name():   {0.0025, 0.01, 0.025, 0.05, 0.25, 0.5, 2.5, 12.5, 62.5, 1562.5, 39062.5},
		ExecutionDuration.Name(): {0.1, 0.5, 2.5, 12.5, 62.5, 312.5, 1562.5, 7812.5, 39062.5, 195312.5, 976562.5},
		RenewalDuration.Name():   {0.0025, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 2.5, 12.5, 62.5},
		LeaseUsageRatio.Name():   {0.25, 0.5, 0.7, 0.8, 0.9, 1.05, 1.5},
		BackendHandover.Name():   {0.05, 0.25, 0.5, 1.5, 2.5, 7.5, 12.5, 30.5, 62.5, 312.5, 1562.5},
	}
	for _, m := range All() {
		if !slices.Equal(m.Bounds(), bounds[m.Name()]) {
			t.Errorf("%s has bounds %v, want %v", m.Name(), m.Bounds(), bounds[m.Name()])
		}
		want := len(bounds[m.Name()])
		if want > 0 {
			want++
		}
		if m.NumBuckets() != want {
			t.Errorf("%s has %d buckets, want %d", m.Name(), m.NumBuckets(), want)
		}
	}
}

func TestAValueFallsIntoTheFirstBucketThatHoldsIt(t *testing.T) {
	for v, want := range map[float64]int{-1: 0, 0: 0, 0.0025: 0, 0.0026: 1, 0.01: 1, 0.02: 2, 39062.5: 10, 39062.6: 11, 1e9: 11} {
		if got := AcquireDuration.BucketOf(v); got != want {
			t.Errorf("%v falls into bucket %d, want %d", v, got, want)
		}
	}
	if got := Active.BucketOf(1); got != 0 {
		t.Errorf("without buckets a value falls into bucket %d", got)
	}
}

func TestWhatBelongsToALockIsMarkedAndNothingElse(t *testing.T) {
	process := []*Metric{BackendUp, BackendPollInterval, RedactionInfo, RedactionOverflows, TelemetryFaults}
	experimental := []*Metric{PendingAge, FencingToken, FencingHighestToken, BackendToken, BackendPollInterval}
	for _, m := range All() {
		if m.PerLock() == slices.Contains(process, m) {
			t.Errorf("%s belongs to a lock: %v", m.Name(), m.PerLock())
		}
		want := Stability("")
		if slices.Contains(experimental, m) {
			want = Experimental
		}
		if m.Stability() != want {
			t.Errorf("%s is %q", m.Name(), m.Stability())
		}
	}
}

func TestUnitsAndKindsShowInTheNames(t *testing.T) {
	for _, m := range All() {
		if seconds := strings.Contains(m.Name(), "_seconds"); seconds != (m.Unit() == "s") {
			t.Errorf("%s has unit %q", m.Name(), m.Unit())
		}
		if total := strings.HasSuffix(m.Name(), "_total"); total != (m.Kind() == Counter) {
			t.Errorf("%s is a %s", m.Name(), m.Kind())
		}
		if ratio := strings.HasSuffix(m.Name(), "_ratio"); ratio != (m.Unit() == "1") {
			t.Errorf("%s has unit %q", m.Name(), m.Unit())
		}
		if words := strings.ReplaceAll(m.OTel(), ".", "_"); !strings.HasPrefix(m.Name(), words) || !strings.HasPrefix(words, "leader_") {
			t.Errorf("%s is %s to OpenTelemetry", m.Name(), m.OTel())
		}
	}
}

func TestSeriesAreCountedByTheirLabelsAndBuckets(t *testing.T) {
	for m, want := range map[*Metric]int{
		Attempts: 1, Active: 1, NotAcquired: 8, TermsEnded: 7, Renewals: 5, Releases: 3, ExecutionFailures: 2, ElectorInfo: 2, RedactionInfo: 4,
		AcquireDuration: 14, ExecutionDuration: 14, RenewalDuration: 13, LeaseUsageRatio: 10,
	} {
		if got := m.Series(); got != want {
			t.Errorf("%s: %d series, want %d", m.Name(), got, want)
		}
	}
}

func TestLabelsAreFoundByNameAndInOrder(t *testing.T) {
	names := func(m *Metric) (all []string) {
		for i := range m.NumLabels() {
			all = append(all, m.LabelAt(i).Name())
		}
		return all
	}
	if got := names(ElectorInfo); !slices.Equal(got, []string{"mode", "backend", "family"}) || len(names(Active)) != 0 {
		t.Errorf("labels %v and %v", got, names(Active))
	}
	backend, ok := ElectorInfo.Label("backend")
	if !ok || backend.Name() != "backend" || backend.Values() != nil || backend.Size() != 0 {
		t.Errorf("label %v, %v", backend, ok)
	}
	mode, ok := ElectorInfo.Label("mode")
	if !ok || mode.Size() != 2 || mode.Value(0) != "run" || mode.Value(1) != "hold" {
		t.Errorf("label %v, %v", mode, ok)
	}
	for _, m := range []*Metric{ElectorInfo, Active} {
		if l, ok := m.Label("lock_name"); ok || l.Name() != "" {
			t.Errorf("%s has the label %v", m.Name(), l)
		}
	}
}

func TestOnlyHistogramsAreFoundBySuffixes(t *testing.T) {
	for _, m := range All() {
		for _, name := range []string{m.Name() + "_bucket", m.Name() + "_count", m.Name() + "_sum"} {
			if found, ok := ByName(name); ok != (m.Kind() == Histogram) || ok && found != m || !ok && found != nil {
				t.Errorf("ByName(%s) = %v, %v", name, found, ok)
			}
		}
	}
	for _, name := range []string{"", "leader", "leader_active_", "_bucket", "leader_execution_duration_seconds_total"} {
		if found, ok := ByName(name); ok || found != nil {
			t.Errorf("ByName(%s) = %v", name, found)
		}
	}
}

func TestNobodyChangesTheCatalogue(t *testing.T) {
	All()[0] = nil
	AcquireDuration.Bounds()[0] = 7
	ElectorInfo.Labels()[0] = Label{}
	mode, _ := ElectorInfo.Label("mode")
	mode.Values()[0] = "changed"
	SingleLockAlerts()[0] = "changed"
	if All()[0] != Attempts || AcquireDuration.Bounds()[0] == 7 || ElectorInfo.LabelAt(0).Name() != "mode" || mode.Value(0) != "run" || SingleLockAlerts()[0] == "changed" {
		t.Error("what a caller does to its copy changes the catalogue")
	}
}
