package catalog

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

func TestBoundsGrowAndNoneIsAnInteger(t *testing.T) {
	for _, m := range All() {
		if (m.Kind() == Histogram) != (m.Bounds() != nil) {
			t.Errorf("%s: bounds belong to histograms alone", m.Name())
		}
		if !slices.IsSorted(m.Bounds()) || len(slices.Compact(slices.Clone(m.Bounds()))) != len(m.Bounds()) {
			t.Errorf("%s: bounds %v", m.Name(), m.Bounds())
		}
		for _, b := range m.Bounds() {
			if b == math.Trunc(b) {
				t.Errorf("%s: bound %v is written differently by a scrape and by a push", m.Name(), b)
			}
		}
	}
	if !slices.Contains(LeaseUsageRatio.Bounds(), NearLeaseBound) {
		t.Errorf("%v is no bound of %s", NearLeaseBound, LeaseUsageRatio.Name())
	}
}

// C51: neither a wait of 30 ms nor a term of three days may drown in the
// buckets at the ends.
func TestC51BucketsCoverWaitsAndTerms(t *testing.T) {
	bucket := func(m *Metric, v float64) (below, above float64) {
		i, _ := slices.BinarySearch(m.Bounds(), v)
		if i == 0 || i == len(m.Bounds()) {
			t.Fatalf("%s: %v is outside of the bounds", m.Name(), v)
		}
		return m.Bounds()[i-1], m.Bounds()[i]
	}
	if low, high := bucket(AcquireDuration, 0.030); low != 0.025 || high != 0.05 {
		t.Errorf("30 ms falls into %v to %v", low, high)
	}
	bucket(ExecutionDuration, 2*3600)
	bucket(ExecutionDuration, 3*24*3600)
	bucket(AcquireDuration, 3600)
	bucket(RenewalDuration, 30)
}

// A lock of which everything is known and everything has happened, without the
// backend's view. What a standby shows is counted where it is shown, in package
// instrument.
func TestOneLockStaysWithinItsBudgetOfSeries(t *testing.T) {
	classic, native := 0, 0
	for _, m := range All() {
		if !m.PerLock() || m.Group() == GroupBackend || slices.Contains(ofGuards, m) {
			continue
		}
		n := m.Series()
		if m == ElectorInfo {
			n = 1 // one handle has one mode
		}
		classic += n
		if m.Kind() == Histogram {
			n = 1
		}
		native += n
	}
	if classic > 97 || native > 48 {
		t.Errorf("%d series with classic histograms, %d with native ones; the budget is 97 and 48", classic, native)
	}
}

// ofGuards are the metrics of the store's side, which a process that campaigns
// does not show.
var ofGuards = []*Metric{FencingChecks, FencingHighestToken}

func TestAGuardStaysWithinItsBudgetOfSeries(t *testing.T) {
	n := 0
	for _, m := range ofGuards {
		n += m.Series()
	}
	if n > 4 {
		t.Errorf("%d series, the budget is 4", n)
	}
}

// The backend's view adds less than a standby has by itself, and a process that
// watches without campaigning has nothing else.
func TestTheBackendsViewStaysWithinItsBudgetOfSeries(t *testing.T) {
	classic, native := 0, 0
	for _, m := range All() {
		if m.Group() == GroupBackend && m.PerLock() {
			classic += m.Series()
			native++
		}
	}
	if classic > 24 || native > 10 {
		t.Errorf("%d series with classic histograms, %d with native ones; the budget is 24 and 10", classic, native)
	}
}

// Exporters that keep histograms of their own are told one value for each label.
func TestHistogramsHaveNoLabelButTheBackend(t *testing.T) {
	for _, m := range All() {
		if m.Kind() == Histogram && (m.NumLabels() > 1 || m.NumLabels() == 1 && m.LabelAt(0).Name() != "backend") {
			t.Errorf("%s has the labels %v", m.Name(), m.Labels())
		}
	}
}

func TestEveryValueOfAClosedSetHasItsWord(t *testing.T) {
	for name, c := range map[string]struct {
		label Label
		n     int
	}{
		"reason": {reasonLabel, Reasons}, "end": {endLabel, EndCauses}, "renewal": {renewalLabel, RenewalResults},
		"release": {releaseLabel, ReleaseResults}, "failure": {failureLabel, FailureCauses}, "fencing": {fencingLabel, FencingResults}, "mode": {modeLabel, Modes},
	} {
		if len(c.label.Values()) != c.n {
			t.Errorf("%s: %d words for %d values", name, len(c.label.Values()), c.n)
		}
	}
	words := []string{Contended.String(), UnknownReason.String(), Released.String(), Abandoned.String(), GaveUp.String(),
		ReleaseFailed.String(), RenewalOK.String(), RenewalLost.String(), ReleaseNotOwner.String(), FailedWithPanic.String(),
		ModeRun.String(), ModeHold.String(), FencingAdmitted.String(), FencingStale.String(), FencingMissing.String()}
	want := []string{"contended", "unknown", "released", "abandoned", "gave_up", "release_failed", "ok", "lost", "not_owner",
		"panic", "run", "hold", "admitted", "stale", "missing"}
	if !slices.Equal(words, want) {
		t.Errorf("words %v, want %v", words, want)
	}
}

// ContendedUnlessDone of package instrument is such a value: printing it must
// not end the process.
func TestAValueOutsideOfItsSetIsInvalid(t *testing.T) {
	for _, v := range []fmt.Stringer{Reason(255), EndCause(255), RenewalResult(255), ReleaseResult(255), FailureCause(255), FencingResult(255), Mode(255)} {
		if v.String() != "invalid" {
			t.Errorf("%T prints %q", v, v)
		}
	}
}

// What a standby exports at 0 is what its alerts read; a histogram says
// nothing before its first observation.
func TestHistogramsAppearWithTheirFirstObservation(t *testing.T) {
	for _, m := range All() {
		if (m.Kind() == Histogram) != (m.Present() == observed) {
			t.Errorf("%s is present %s", m.Name(), m.Present())
		}
	}
}

func TestEveryMetricIsDescribedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range All() {
		if seen[m.Name()] || seen[m.OTel()] {
			t.Errorf("%s is there twice", m.Name())
		}
		seen[m.Name()], seen[m.OTel()] = true, true
		if m.Help() == "" || m.Present() == "" || m.Group() == "" {
			t.Errorf("%s lacks help, presence or group", m.Name())
		}
		if found, ok := ByName(m.Name()); !ok || found != m {
			t.Errorf("ByName(%s) = %v", m.Name(), found)
		}
	}
	if m, ok := ByName("leader_lease_usage_ratio_bucket"); !ok || m != LeaseUsageRatio {
		t.Error("ByName finds histograms by their suffixes")
	}
	if _, ok := ByName("leader_attempts_total_count"); ok {
		t.Error("a counter has no _count")
	}
}
