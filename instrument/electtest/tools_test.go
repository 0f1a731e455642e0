package electtest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/redact"
)

func TestAScriptedElectorAnswersStepAfterStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed, start := errors.New("failed"), time.Now()
		one, two := instrument.NewLease(nil), instrument.NewLease(nil)
		e := NewElector(Step{Lease: one}, Step{Wait: 2 * time.Second, Err: failed}, Step{Wait: time.Second, Panic: "boom"}, Step{Lease: two})
		answer := func(ctx context.Context) (lease instrument.Lease, panicked any, err error) {
			defer func() { panicked = recover() }()
			lease, err = e.Acquire(ctx)
			return lease, nil, err
		}
		for i, want := range []struct {
			lease    instrument.Lease
			err      error
			panicked any
			at       time.Duration
		}{
			{one, nil, nil, 0}, {nil, failed, nil, 2 * time.Second}, {nil, nil, "boom", 3 * time.Second}, {two, nil, nil, 3 * time.Second}, {two, nil, nil, 3 * time.Second},
		} {
			if lease, panicked, err := answer(context.Background()); lease != want.lease || err != want.err || panicked != want.panicked || time.Since(start) != want.at {
				t.Errorf("answer %d: %v, %v, %v after %v", i, lease, err, panicked, time.Since(start))
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		lease, err := NewElector(Step{Wait: time.Minute, Lease: one}).Acquire(ctx)
		if lease != nil || err != context.DeadlineExceeded || time.Since(start) != 4*time.Second {
			t.Errorf("a caller who gives up: %v, %v after %v", lease, err, time.Since(start))
		}
		if lease, err := Wins(two).Acquire(ctx); lease != two || err != nil {
			t.Errorf("Wins: %v, %v", lease, err)
		}
		if lease, err := Fails(failed).Acquire(ctx); lease != nil || err != failed {
			t.Errorf("Fails: %v, %v", lease, err)
		}
		if lease, err := NewElector().Acquire(ctx); lease == nil || err != nil {
			t.Errorf("without steps: %v, %v", lease, err)
		}
	})
}

func TestTheClockMovesWhenItIsMoved(t *testing.T) {
	start := time.Unix(7, 0)
	c := NewClock(start)
	c.Advance(time.Minute)
	c.Advance(-time.Second)
	if got := c.Now(); !got.Equal(start.Add(59*time.Second)) || !c.Now().Equal(got) {
		t.Errorf("it shows %v", got)
	}
}

func TestASinkHandsOnWhatIsReportedAndIgnoresTheRest(t *testing.T) {
	var renewed []instrument.Renewal
	var failed, lost []error
	gone, down := errors.New("gone"), errors.New("down")
	all := NewSink(Reports{
		Renewed:       func(r instrument.Renewal) { renewed = append(renewed, r) },
		RenewalFailed: func(err error) { failed = append(failed, err) },
		Lost:          func(cause error) { lost = append(lost, cause) },
	})
	r := instrument.Renewal{Sent: time.Unix(1, 0), Expiry: time.Unix(9, 0), Granted: time.Second}
	for _, sink := range []instrument.Sink{all, NewSink(Reports{})} {
		sink.Renewed(r)
		sink.RenewalFailed(down)
		sink.RenewalFailedSince(time.Unix(1, 0), down)
		sink.Lost(gone)
	}
	if diff := cmp.Diff([]instrument.Renewal{r}, renewed); diff != "" || !slices.Equal(failed, []error{down, down}) || !slices.Equal(lost, []error{gone}) {
		t.Errorf("renewed %v, failed %v, lost %v", renewed, failed, lost)
	}
}

func TestSeriesAreReadByTheirLabel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, err := instrument.New(instrument.WithRedactor(redact.Raw()))
		if err != nil {
			t.Fatal(err)
		}
		b, a := m.Election("b", instrument.Backend("etcd")), m.Election("a")
		wait := catalog.AcquireDuration.Bounds()
		for _, d := range []float64{wait[0], wait[0], 2 * wait[len(wait)-1]} {
			_, _ = b.Acquire(context.Background(), NewElector(Step{Wait: time.Duration(d * float64(time.Second)), Err: instrument.ErrContended}))
		}
		_, _ = a.Acquire(context.Background(), Fails(instrument.ErrBackend))
		if got := Labels(m); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("labels %v", got)
		}
		of := func(label string) Series {
			found := Series{}
			for key, v := range Read(m, label) {
				if v != 0 {
					found[key] = v
				}
			}
			return found
		}
		want := Series{
			"leader_attempts_total": 3, `leader_not_acquired_total{reason="contended"}`: 3, "leader_max_leaders": 1, `leader_elector_info{mode="run",backend="etcd"}`: 1,
			"leader_acquire_duration_seconds_count": 3, "leader_acquire_duration_seconds_sum": 78125.005,
			`leader_acquire_duration_seconds_bucket{le="0.0025"}`: 2, `leader_acquire_duration_seconds_bucket{le="+Inf"}`: 1,
		}
		if diff := cmp.Diff(want, of("b")); diff != "" {
			t.Error(diff)
		}
		if got := of("a"); got[`leader_not_acquired_total{reason="backend_error"}`] != 1 || got["leader_attempts_total"] != 1 {
			t.Errorf("%v", got)
		}
		if got := Read(m, "c"); len(got) != 0 {
			t.Errorf("of a label that is not there: %v", got)
		}
		process := Series{`leader_redaction_info{policy="raw"}`: 1, "leader_redaction_overflows_total": 0, "leader_telemetry_faults_total": 0}
		if diff := cmp.Diff(process, ReadProcess(m)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSeriesAreNamedAndCopied(t *testing.T) {
	for got, want := range map[string]string{
		Of(catalog.Active):                                           "leader_active",
		Of(catalog.NotAcquired, "contended"):                         `leader_not_acquired_total{reason="contended"}`,
		Of(catalog.NotAcquired):                                      "leader_not_acquired_total",
		Of(catalog.ElectorInfo, "run", "", "f"):                      `leader_elector_info{mode="run",family="f"}`,
		Of(catalog.ElectorInfo, "run"):                               `leader_elector_info{mode="run"}`,
		Key("n", catalog.ElectorInfo.Labels(), []string{"", "", ""}): "n",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	r := Series{"a": 1, "b": 2}
	if got := r.With(Series{"b": 3, "c": 4}); !cmp.Equal(got, Series{"a": 1, "b": 3, "c": 4}) {
		t.Errorf("with: %v", got)
	}
	if got := r.Without("a", "z"); !cmp.Equal(got, Series{"b": 2}) {
		t.Errorf("without: %v", got)
	}
	if !cmp.Equal(r, Series{"a": 1, "b": 2}) {
		t.Errorf("the original became %v", r)
	}
}

func TestBooksThatDoNotAddUpAreNamed(t *testing.T) {
	whole := Series{
		"leader_attempts_total": 7, "leader_acquired_total": 3, "leader_pending": 1, `leader_not_acquired_total{reason="contended"}`: 2, `leader_not_acquired_total{reason="unknown"}`: 1,
		`leader_terms_ended_total{cause="released"}`: 1, `leader_terms_ended_total{cause="lost"}`: 1, "leader_active": 1, "leader_acquire_duration_seconds_count": 6,
		"leader_lease_headroom_seconds": -1,
	}
	for name, c := range map[string]struct {
		change Series
		want   string
	}{
		"all adds up":                   {Series{}, ""},
		"nothing":                       {Series{"leader_active": 0}, ""},
		"an attempt without an outcome": {Series{"leader_attempts_total": 8}, "attempts 8, outcomes and pending 7"},
		"an outcome without an attempt": {Series{`leader_not_acquired_total{reason="unknown"}`: 2}, "attempts 7, outcomes and pending 8"},
		"a pending one that is missed":  {Series{"leader_pending": 0}, "attempts 7, outcomes and pending 6"},
		"a term too many":               {Series{"leader_active": 2}, "acquired 3, ended 2, active 2"},
		"an end too many":               {Series{`leader_terms_ended_total{cause="lost"}`: 2}, "acquired 3, ended 3, active 1"},
		"a wait too few":                {Series{"leader_acquire_duration_seconds_count": 5}, "waits 5 of 7 attempts"},
		"a wait too many":               {Series{"leader_acquire_duration_seconds_count": 7}, "waits 7 of 7 attempts"},
		"less than nothing":             {Series{"leader_running": -1}, "leader_running is -1"},
	} {
		if got := Broken(whole.With(c.change)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := Broken(Series{}); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}

func TestACampaignSuiteThatMakesNoSenseSaysWhy(t *testing.T) {
	short := "electtest: a lease of 999ms is too short for the wall clock: give it a second or more, or set VirtualTime"
	for name, c := range map[string]struct {
		change func(*CampaignSuite)
		want   string
	}{
		"right":                          {func(*CampaignSuite) {}, ""},
		"no elector":                     {func(s *CampaignSuite) { s.Run = nil }, "electtest: CampaignSuite.Run is nil"},
		"no lease":                       {func(s *CampaignSuite) { s.Lease = 0 }, "electtest: CampaignSuite.Lease is 0"},
		"giving up what cannot break":    {func(s *CampaignSuite) { s.GivesUp = true }, "electtest: CampaignSuite.GivesUp needs CampaignSuite.Break"},
		"giving up what can break":       {func(s *CampaignSuite) { s.GivesUp, s.Break = true, func(testing.TB, string) func() { return nil } }, ""},
		"a short lease":                  {func(s *CampaignSuite) { s.Lease = 999 * time.Millisecond }, short},
		"a short lease, on virtual time": {func(s *CampaignSuite) { s.Lease, s.VirtualTime = time.Millisecond, true }, ""},
		"a second":                       {func(s *CampaignSuite) { s.Lease = time.Second }, ""},
	} {
		s := CampaignSuite{Lease: 2 * time.Second, Run: func(context.Context, testing.TB, string, *instrument.Election, func(context.Context)) error {
			return nil
		}}
		c.change(&s)
		if got := s.invalid(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got, want := invalidLease(-1, true), "electtest: a lease of -1ns is too short for the wall clock: give it a second or more, or set VirtualTime"; got != want {
		t.Errorf("less than nothing: %q", got)
	}
}

func TestBoundsOfTimeFollowTheLeaseAndTheClock(t *testing.T) {
	for name, c := range map[string]struct {
		p                      promises
		patience, moment, step time.Duration
	}{
		"the wall clock":                {promises{lease: 4 * time.Second}, 20 * time.Second, time.Second, 200 * time.Millisecond},
		"the wall clock, no lease":      {promises{}, 20 * time.Second, time.Second, 10 * time.Millisecond},
		"virtual time":                  {promises{lease: 2 * time.Second, virtual: true}, time.Second, 500 * time.Millisecond, 100 * time.Millisecond},
		"virtual time, no lease":        {promises{virtual: true}, 10 * time.Second, time.Second, 10 * time.Millisecond},
		"virtual time, the least lease": {promises{lease: 1, virtual: true}, 0, 0, 0},
		"a long lease":                  {promises{lease: time.Minute, virtual: true}, 30 * time.Second, time.Second, 3 * time.Second},
	} {
		if patience, moment, step := c.p.patience(), c.p.moment(), c.p.step(); patience != c.patience || moment != c.moment || step != c.step {
			t.Errorf("%s: %v, %v, %v", name, patience, moment, step)
		}
	}
}
