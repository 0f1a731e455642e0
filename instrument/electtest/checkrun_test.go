package electtest

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAProcessThatStoodStillForAQuarterOfTheLeaseIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := promises{lease: 8 * time.Second}
		stood := p.standsStill()
		time.Sleep(20 * time.Second)
		if stood() {
			t.Error("it did not stand still")
		}
	})
	if (promises{}).standsStill()() {
		t.Error("without a lease there is nothing to judge by")
	}
}

func TestACheckThatFailsWhileTheProcessStoodStillIsMadeAgain(t *testing.T) {
	for _, c := range []struct {
		name    string
		stood   []bool
		fails   []string // one for each try; empty: it passes
		failure string
		judged  bool
	}{
		{"passes", []bool{false}, []string{""}, "", true},
		{"passes while it stood still", []bool{true}, []string{""}, "", true},
		{"fails", []bool{false}, []string{"a"}, "a", true},
		{"passes when it is made again", []bool{true, false}, []string{"a", ""}, "", true},
		{"fails when it is made again", []bool{true, false}, []string{"a", "b"}, "b", true},
		{"stands still each time", []bool{true, true, true}, []string{"a", "b", "c"}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			made := 0
			failures, judged := judge(
				func() []string { made++; return failed(c.fails[made-1]) },
				func() func() bool { return func() bool { return c.stood[made-1] } })
			if judged != c.judged || strings.Join(failures, "") != c.failure || made != len(c.stood) {
				t.Errorf("judged %v: %q after %d tries", judged, failures, made)
			}
		})
	}
}

func failed(with string) []string {
	if with == "" {
		return nil
	}
	return []string{with}
}

func TestPatienceIsGenerousOnTheWallClockAndTightOnVirtualTime(t *testing.T) {
	for _, c := range []struct {
		of   promises
		want time.Duration
	}{
		{promises{lease: 4 * time.Second}, 20 * time.Second},
		{promises{}, 20 * time.Second},
		{promises{virtual: true, lease: 4 * time.Second}, 2 * time.Second},
		{promises{virtual: true}, 10 * time.Second},
	} {
		if got := c.of.patience(); got != c.want {
			t.Errorf("%+v: %v, want %v", c.of, got, c.want)
		}
	}
}
