package reading

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/internal/lock"
	"github.com/leaderscope/leaderscope/instrument/internal/registry"
	"github.com/leaderscope/leaderscope/redact"
)

// written collects samples as text.
func written(write func(Writer)) (lines []string) {
	write(func(m *catalog.Metric, values *Values, v float64, d *lock.Distribution) {
		line := m.Name()
		for i := range values {
			if i < m.NumLabels() {
				line += " " + m.LabelAt(i).Name() + "=" + values[i]
			} else if values[i] != "" {
				line += " beyond=" + values[i]
			}
		}
		if d != nil {
			n := uint64(0)
			for i := range m.NumBuckets() {
				n += d.Bucket(i)
			}
			line += fmt.Sprintf(" %d/%v", n, d.Sum)
		}
		if d == nil || v != 0 {
			line += fmt.Sprintf(" %v", v)
		}
		lines = append(lines, line)
	})
	return lines
}

// want is a list of samples; a name with words in braces is one sample of 0
// for each word that is not named otherwise.
func want(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func at(d time.Duration) lock.Instant { return lock.Origin.Add(d) }

func moment(d time.Duration) lock.Moment {
	return lock.Moment{Now: at(d), Wall: time.Unix(1000, 0).Add(d)}
}

func TestALockThatHasDoneNothingShowsZeros(t *testing.T) {
	var r registry.Reading
	r.Uses = []registry.Use{{}}
	got := written(func(w Writer) { Lock(&r, w) })
	if diff := cmp.Diff(want(`
		leader_attempts_total 0
		leader_acquired_total 0
		leader_not_acquired_total reason=contended 0
		leader_not_acquired_total reason=already_held 0
		leader_not_acquired_total reason=timeout 0
		leader_not_acquired_total reason=canceled 0
		leader_not_acquired_total reason=session_lost 0
		leader_not_acquired_total reason=backend_error 0
		leader_not_acquired_total reason=panic 0
		leader_not_acquired_total reason=unknown 0
		leader_pending 0
		leader_pending_age_seconds 0
		leader_running 0
		leader_execution_failures_total cause=error 0
		leader_execution_failures_total cause=panic 0
		leader_work_after_loss_seconds_total 0
		leader_active 0
		leader_terms_ended_total cause=released 0
		leader_terms_ended_total cause=lost 0
		leader_terms_ended_total cause=expired 0
		leader_terms_ended_total cause=canceled 0
		leader_terms_ended_total cause=abandoned 0
		leader_terms_ended_total cause=gave_up 0
		leader_terms_ended_total cause=release_failed 0
		leader_releases_total result=ok 0
		leader_releases_total result=error 0
		leader_releases_total result=not_owner 0
		leader_max_leaders 0
		leader_elector_info mode=run backend= family= 1
	`), got); diff != "" {
		t.Error(diff)
	}
}

// busy is a lock of which everything is known and much has happened.
func busy() *registry.Reading {
	s := &lock.State{Params: &lock.Params{Lease: 30 * time.Second, MaxLeaders: 2}}
	begin := func(d time.Duration) { s.Flight.Enter(at(d)) }
	won := func(d, end time.Duration, token uint64) *lock.Term {
		begin(d - time.Second)
		t := &lock.Term{}
		s.Win(t, nil, at(d-time.Second), &lock.Won{Now: at(d), End: at(end), Renewals: lock.ShownRenewals, Token: token, Fenced: true})
		return t
	}
	t := won(10*time.Second, 40*time.Second, 7)
	s.BodyStarts(t, at(11*time.Second))
	s.BodyStarts(t, at(11*time.Second))
	s.Renewed(t, lock.Renewal{Result: catalog.RenewalOK, Sent: at(20 * time.Second), Now: at(21 * time.Second)})
	s.Renewed(t, lock.Renewal{Result: catalog.RenewalError, Sent: at(22 * time.Second), Now: at(24 * time.Second)})
	s.BodyEnds(t, at(11*time.Second), at(30*time.Second), catalog.FailedWithPanic, true)
	s.Settle(at(52 * time.Second))
	s.Released(t, t.Stop(at(53*time.Second)), at(53*time.Second), catalog.ReleaseNotOwner)
	begin(54 * time.Second)
	s.Fail(nil, at(54*time.Second), at(55*time.Second), catalog.TimedOut)
	won(60*time.Second, 90*time.Second, 8)
	begin(62 * time.Second)
	s.Settle(at(65 * time.Second))
	r := &registry.Reading{Summary: registry.Summary{Every: 90 * time.Second, MaxLeaders: 2, RenewalsSeen: true, Uses: []registry.Use{
		{Mode: catalog.ModeHold, Backend: "etcd", Family: "f"}, {Mode: catalog.ModeRun},
	}}}
	s.AddTo(&r.Facts, moment(65*time.Second))
	return r
}

func TestALockShowsAllThatIsKnownOfIt(t *testing.T) {
	r := busy()
	got := written(func(w Writer) { Lock(r, w) })
	if diff := cmp.Diff(want(`
		leader_attempts_total 4
		leader_acquired_total 2
		leader_not_acquired_total reason=contended 0
		leader_not_acquired_total reason=already_held 0
		leader_not_acquired_total reason=timeout 1
		leader_not_acquired_total reason=canceled 0
		leader_not_acquired_total reason=session_lost 0
		leader_not_acquired_total reason=backend_error 0
		leader_not_acquired_total reason=panic 0
		leader_not_acquired_total reason=unknown 0
		leader_pending 1
		leader_pending_age_seconds 3
		leader_acquire_duration_seconds 3/3
		leader_running 1
		leader_execution_duration_seconds 1/19
		leader_execution_failures_total cause=error 0
		leader_execution_failures_total cause=panic 1
		leader_work_after_loss_seconds_total 15
		leader_active 1
		leader_terms_ended_total cause=released 0
		leader_terms_ended_total cause=lost 0
		leader_terms_ended_total cause=expired 1
		leader_terms_ended_total cause=canceled 0
		leader_terms_ended_total cause=abandoned 0
		leader_terms_ended_total cause=gave_up 0
		leader_terms_ended_total cause=release_failed 0
		leader_releases_total result=ok 0
		leader_releases_total result=error 0
		leader_releases_total result=not_owner 1
		leader_last_acquired_timestamp_seconds 1060
		leader_last_ended_timestamp_seconds 1050
		leader_fencing_token 8
		leader_fencing_token_regressions_total 0
		leader_renewals_total result=ok 1
		leader_renewals_total result=error 1
		leader_renewals_total result=timeout 0
		leader_renewals_total result=canceled 0
		leader_renewals_total result=lost 0
		leader_renewal_duration_seconds 2/3
		leader_lease_headroom_seconds 25
		leader_lease_expiry_timestamp_seconds 1090
		leader_lease_duration_seconds 30
		leader_lease_usage_ratio 2/1.4666666666666668
		leader_lease_overruns_total 1
		leader_expected_interval_seconds 90
		leader_max_leaders 2
		leader_elector_info mode=hold backend=etcd family=f 1
		leader_elector_info mode=run backend= family= 1
	`), got); diff != "" {
		t.Error(diff)
	}
}

func TestTheStoresSideIsShownWithoutACampaign(t *testing.T) {
	s := &lock.State{Params: &lock.Params{}}
	s.Guard()
	none := &registry.Reading{WatchOnly: true}
	s.AddGuarding(&none.Guarding)
	s.Checked(lock.Check{Result: catalog.FencingAdmitted, Highest: 1 << 60, Seen: true})
	s.Checked(lock.Check{Result: catalog.FencingStale, Highest: 1 << 60, Seen: true})
	s.Checked(lock.Check{Result: catalog.FencingMissing})
	some := &registry.Reading{WatchOnly: true}
	s.AddGuarding(&some.Guarding)
	for _, c := range []struct {
		name string
		r    *registry.Reading
		want string
	}{
		{"no store", &registry.Reading{WatchOnly: true}, ``},
		{"a store without a write", none, `
			leader_fencing_checks_total result=admitted 0
			leader_fencing_checks_total result=stale 0
			leader_fencing_checks_total result=missing 0
		`},
		{"a store with writes", some, `
			leader_fencing_checks_total result=admitted 1
			leader_fencing_checks_total result=stale 1
			leader_fencing_checks_total result=missing 1
			leader_fencing_highest_token 1.152921504606847e+18
		`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := written(func(w Writer) { Lock(c.r, w) })
			if diff := cmp.Diff(want(c.want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatIsNotKnownIsAbsent(t *testing.T) {
	for name, c := range map[string]struct {
		forget func(*registry.Reading)
		gone   []string
	}{
		"renewals":          {func(r *registry.Reading) { r.RenewalsSeen = false }, []string{"leader_renewals_total", "leader_renewal_duration_seconds"}},
		"the headroom":      {func(r *registry.Reading) { r.LeftKnown = false }, []string{"leader_lease_headroom_seconds"}},
		"the end":           {func(r *registry.Reading) { r.Expiry = 0 }, []string{"leader_lease_expiry_timestamp_seconds"}},
		"the length":        {func(r *registry.Reading) { r.Lease = 0 }, []string{"leader_lease_duration_seconds"}},
		"the lease":         {func(r *registry.Reading) { r.LeaseSeen = false }, []string{"leader_lease_usage_ratio", "leader_lease_overruns_total"}},
		"the token":         {func(r *registry.Reading) { r.Fenced = false }, []string{"leader_fencing_token", "leader_fencing_token_regressions_total"}},
		"the last win":      {func(r *registry.Reading) { r.LastWon = 0 }, []string{"leader_last_acquired_timestamp_seconds"}},
		"the last end":      {func(r *registry.Reading) { r.LastEnded = 0 }, []string{"leader_last_ended_timestamp_seconds"}},
		"the interval":      {func(r *registry.Reading) { r.Every = 0 }, []string{"leader_expected_interval_seconds"}},
		"how it is used":    {func(r *registry.Reading) { r.Uses = nil }, []string{"leader_elector_info"}},
		"nothing":           {func(*registry.Reading) {}, nil},
		"the very shortest": {func(r *registry.Reading) { r.Lease, r.Every, r.Expiry, r.LastWon, r.LastEnded = 1, 1, 1, 1, 1 }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			names := func(r *registry.Reading) map[string]int {
				all := map[string]int{}
				for _, line := range written(func(w Writer) { Lock(r, w) }) {
					metric, _, _ := strings.Cut(line, " ")
					all[metric]++
				}
				return all
			}
			all, r := names(busy()), busy()
			c.forget(r)
			for _, gone := range c.gone {
				delete(all, gone)
			}
			if diff := cmp.Diff(all, names(r)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHeadroomIsNegativeBeyondTheEnd(t *testing.T) {
	r := busy()
	r.Left = -3 * time.Second
	for _, line := range written(func(w Writer) { Lock(r, w) }) {
		if strings.HasPrefix(line, "leader_lease_headroom_seconds ") && line != "leader_lease_headroom_seconds -3" {
			t.Error(line)
		}
	}
}

func TestTheProcessShowsItsPolicyAndItsFaults(t *testing.T) {
	p := Process{Redaction: redact.Info{Policy: "hash", KeyID: "k1", KeyCheck: "c", SecondaryID: "k2"}, Overflows: 3, Faults: 4}
	got := written(func(w Writer) { p.Write(w) })
	if diff := cmp.Diff([]string{
		"leader_redaction_info policy=hash key_id=k1 key_check=c 1", "leader_redaction_overflows_total 3", "leader_telemetry_faults_total 4",
	}, got); diff != "" {
		t.Error(diff)
	}
}
