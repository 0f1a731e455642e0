package electtest

import (
	"testing"
	"time"
)

func TestAFailureSaysTheRuleAndTheSeriesThatDiffer(t *testing.T) {
	wrong := renewer
	wrong.fault = "contention is not declared"
	s := wrong.new().suite()
	failures := failuresOf(t, s.promises(), func(tr *checkRun) { (&acquiring{tr, s}).contention() })
	const want = "An attempt on a held lock counts as contended; where Acquire waits, as the end of the caller's context.\n" +
		"series that differ:\n" +
		"\tleader_not_acquired_total{reason=\"contended\"}: want 1, got 0\n" +
		"\tleader_not_acquired_total{reason=\"unknown\"}: want 0, got 1"
	if len(failures) != 1 || failures[0] != want {
		t.Errorf("got %q\nwant %q", failures, want)
	}
}

func TestTheDifferenceNamesOnlySeriesThatDiffer(t *testing.T) {
	w := want{"same": exactly(1), "other": exactly(1), "range": between(0, 2), "open": atLeast(3), "gone": exactly(0), "maybe": free()}
	got := Series{"same": 1, "other": 2, "range": 2.5, "open": 2, "new": 4, `some_bucket{le="1"}`: 7}
	const want = "\tgone: want 0, and there is no such series\n" +
		"\tnew: want no such series, got 4\n" +
		"\topen: want at least 3, got 2\n" +
		"\tother: want 1, got 2\n" +
		"\trange: want 0 to 2, got 2.5\n"
	if diff := w.diff(got); diff != want {
		t.Errorf("got\n%s\nwant\n%s", diff, want)
	}
}

func TestASuiteThatMakesNoSenseSaysWhy(t *testing.T) {
	of := renewer.new()
	for _, c := range []struct {
		name   string
		change func(*Suite)
		want   string
	}{
		{"right", func(*Suite) {}, ""},
		{"no contenders", func(s *Suite) { s.New = nil }, "electtest: Suite.New is nil"},
		{"hidden renewals with an end", func(s *Suite) { s.HidesRenewals = true },
			"electtest: Suite.HidesRenewals excludes Suite.Lease, Suite.RenewsItself and Suite.RenewsOnDemand: of hidden renewals neither the end nor the results are known"},
		{"renewed without a lease", func(s *Suite) { s.Lease = 0 }, "electtest: Suite.RenewsOnDemand needs the length of the lease in Suite.Lease"},
		{"a short lease on virtual time", func(s *Suite) { s.Lease = time.Millisecond }, ""},
		{
			"a short lease on the wall clock", func(s *Suite) { s.Lease, s.VirtualTime = 300*time.Millisecond, false },
			"electtest: a lease of 300ms is too short for the wall clock: give it a second or more, or set VirtualTime",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := of.suite()
			c.change(&s)
			if got := s.invalid(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
