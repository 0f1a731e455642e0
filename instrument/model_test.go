package instrument_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// A model of the truth, which process holds what until when, is driven beside the
// middleware by random events of many locks: shared labels, group electors,
// late and reordered answers. The model is moved tick by tick and looks at
// each tick what holds; it must agree with every series at every instant.

const tick = 500 * time.Millisecond

// world is a middleware and the model of it.
type world struct {
	rt     *rapid.T
	m      *instrument.Middleware
	clock  *electtest.Clock
	start  time.Time
	now    time.Duration // since start
	locks  []*modelLock
	labels map[string]*modelLabel
}

// modelLabel is what a label has counted for locks that were forgotten.
type modelLabel struct {
	series electtest.Series
	won    time.Duration
	ended  time.Duration
}

type modelLock struct {
	name, label string
	shared      bool
	hold, keep  bool
	hidden      bool
	hides       bool // as the last lease said
	lease       time.Duration
	max         int

	e        *instrument.Election
	attempts []*modelAttempt
	terms    []*modelTerm
	series   electtest.Series // counters
	token    uint64
	fenced   bool
	won      time.Duration // -1 never
	ended    time.Duration // -1 never
	granted  time.Duration
	seen     bool // a lease length or end
}

type modelAttempt struct {
	real  *instrument.Attempt
	start time.Duration
}

type modelTerm struct {
	l    *modelLock
	real *instrument.Term

	won, sent, end  time.Duration // end -1 unknown
	decided         time.Duration // sending of the renewal that decided the end
	renewalsVisible bool          // renewals can be seen
	renewable       bool
	hidden          bool // renewals are not observable, and there are some
	managed         bool // a renewal was reported
	bodies          []*modelBody

	concluded bool // ended
	cause     string
	lapsed    bool
	late      time.Duration // from here on another may lead, when over
	overran   bool
	closed    bool // released
	guarded   bool
	result    error // of the next release

	says    time.Duration // the end that the lease answers; -1 none
	granted time.Duration // the length that it answers
}

type modelBody struct {
	start time.Duration
	stop  chan struct{}
	done  chan struct{}
}

func newWorld(rt *rapid.T) *world {
	// The model's time begins late enough for ends before the beginning.
	w := &world{rt: rt, start: time.Unix(1_700_000_000, 0), now: time.Hour, labels: map[string]*modelLabel{}}
	w.clock = electtest.NewClock(w.start.Add(w.now))
	m, err := instrument.New(instrument.WithClock(w.clock), instrument.WithMaxLabels(4), instrument.WithRedactor(redact.Raw(redact.Template("shard-{n}"))))
	if err != nil {
		rt.Fatal(err)
	}
	w.m = m
	for i, name := range []string{"own", "group", "shard-1", "shard-2", "shard-3"} {
		l := &modelLock{name: name, label: name, max: 1}
		if l.shared = i > 1; l.shared {
			l.label = "shard-*"
		}
		if name == "group" {
			l.max = 2
		}
		l.hold = rapid.Bool().Draw(rt, "hold")
		l.keep = rapid.Bool().Draw(rt, "keep")
		l.hidden = rapid.IntRange(0, 5).Draw(rt, "hidden") == 0
		l.lease = rapid.SampledFrom([]time.Duration{0, 3 * s, 10 * s}).Draw(rt, "lease")
		w.locks = append(w.locks, l)
		w.open(l)
	}
	return w
}

// open makes the handle of a lock and begins its counters.
func (w *world) open(l *modelLock) {
	opts := []instrument.ElectionOption{instrument.LeaseDuration(l.lease), instrument.MaxLeaders(l.max)}
	for is, o := range map[*bool]instrument.ElectionOption{&l.hold: instrument.Hold(), &l.keep: instrument.KeepUntilExpiry(), &l.hidden: instrument.HiddenRenewals()} {
		if *is {
			opts = append(opts, o)
		}
	}
	l.e = w.m.Named(l.name, opts...)
	l.series, l.won, l.ended, l.granted, l.seen, l.fenced, l.token, l.hides = electtest.Series{}, -1, -1, 0, l.lease > 0, false, 0, false
	l.attempts, l.terms = nil, nil
	if l.shared && w.labels[l.label] == nil {
		w.labels[l.label] = &modelLabel{series: electtest.Series{}, won: -1, ended: -1}
	}
}

// kept reports whether a win is kept until it is lost or released.
func (l *modelLock) kept() bool { return l.hold && !l.keep }

// known is the end of a term that can be known.
func (t *modelTerm) known() (time.Duration, bool) {
	if t.end < 0 || t.l.hidden || t.hidden || t.l.hold && !t.renewalsVisible {
		return 0, false
	}
	return t.end, true
}

func (t *modelTerm) active(now time.Duration) bool {
	end, known := t.known()
	return !t.concluded && (!known || now < end)
}

// advance moves everything by one tick.
func (w *world) advance() {
	before := w.now
	w.now += tick
	w.clock.Advance(tick)
	for _, l := range w.locks {
		for _, t := range l.terms {
			if from, ok := t.anotherMayLead(before); ok && from <= before {
				l.series["leader_work_after_loss_seconds_total"] += tick.Seconds() * float64(len(t.bodies))
			}
			t.lapse(w.now)
			t.ranOver(w.now)
		}
	}
}

// anotherMayLead is from when on the term protects nothing.
func (t *modelTerm) anotherMayLead(now time.Duration) (time.Duration, bool) {
	if t.concluded {
		return t.late, true
	}
	end, known := t.known()
	return end, known && now >= end
}

func (t *modelTerm) ranOver(now time.Duration) {
	end, known := t.known()
	if !known || now <= end || t.overran {
		return
	}
	working := len(t.bodies) > 0
	if !t.concluded && (t.l.kept() || working || t.managed) || t.concluded && working && t.cause != "released" {
		t.overrun()
	}
}

func (t *modelTerm) overrun() {
	t.overran = true
	t.l.series["leader_lease_overruns_total"]++
}

// lapse ends a lock around one run with its lease.
func (t *modelTerm) lapse(now time.Duration) {
	end, known := t.known()
	if t.concluded || t.l.kept() || !known || now < end || len(t.bodies) > 0 {
		return
	}
	if !t.l.keep && (t.managed || t.renewable) && now < end+end-t.sent {
		return
	}
	if t.managed && !t.overran && !t.l.keep { // its holder had stopped renewing
		t.overrun()
	}
	t.finish("expired", end, end)
	t.lapsed = true
}

func (t *modelTerm) finish(cause string, at, late time.Duration) {
	t.concluded, t.cause, t.late = true, cause, late
	t.l.series[`leader_terms_ended_total{cause="`+cause+`"}`]++
	if end, known := t.known(); known && end < at {
		at = end
	}
	t.l.ended = max(t.l.ended, at)
}

func (t *modelTerm) executed(d time.Duration) {
	t.l.series["leader_execution_duration_seconds_count"]++
	t.l.series["leader_execution_duration_seconds_sum"] += max(d, 0).Seconds()
}

func (t *modelTerm) used(now time.Duration) {
	if end, known := t.known(); known && end > t.sent {
		t.l.series["leader_lease_usage_ratio_count"]++
		t.l.series["leader_lease_usage_ratio_sum"] += float64(now-t.sent) / float64(end-t.sent)
	}
}

func (l *modelLock) learn(t *modelTerm, granted time.Duration, measured bool) {
	if _, known := t.known(); known {
		l.seen = true
	}
	if granted > 0 {
		l.granted = granted
	} else if measured && l.lease == 0 {
		l.granted = t.end - t.sent
	}
}

// pick draws one of several; nil when there is none.
func pick[T any](rt *rapid.T, from []T, what string) (T, bool) {
	if len(from) == 0 {
		return *new(T), false
	}
	return from[rapid.IntRange(0, len(from)-1).Draw(rt, what)], true
}

func (w *world) begin() {
	l, _ := pick(w.rt, w.locks, "lock")
	if len(l.attempts) < 3 {
		l.attempts = append(l.attempts, &modelAttempt{l.e.Begin(context.Background()), w.now})
	}
}

func (w *world) attempt() (*modelLock, *modelAttempt) {
	l, _ := pick(w.rt, w.locks, "lock")
	a, ok := pick(w.rt, l.attempts, "attempt")
	if !ok {
		return nil, nil
	}
	l.attempts = slices.DeleteFunc(l.attempts, func(x *modelAttempt) bool { return x == a })
	l.series["leader_acquire_duration_seconds_count"]++
	l.series["leader_acquire_duration_seconds_sum"] += (w.now - a.start).Seconds()
	return l, a
}

func (w *world) fail() {
	l, a := w.attempt()
	if a == nil {
		return
	}
	err := rapid.SampledFrom([]error{instrument.ErrContended, errBackend, instrument.ErrAlreadyHeld, errHeld}).Draw(w.rt, "error")
	reason := map[error]string{instrument.ErrContended: "contended", errBackend: "backend_error", instrument.ErrAlreadyHeld: "already_held", errHeld: "unknown"}[err]
	l.series[`leader_not_acquired_total{reason="`+reason+`"}`]++
	a.real.NotAcquired(err)
}

func (w *world) win() {
	l, a := w.attempt()
	if a == nil {
		return
	}
	t := &modelTerm{l: l, won: w.now, sent: a.start, end: -1, says: -1}
	var opts []instrument.LeaseOption
	if rapid.Bool().Draw(w.rt, "reported") {
		opts = append(opts, instrument.RenewalsReported())
		t.renewable, t.renewalsVisible = true, true
	}
	if t.hidden = rapid.IntRange(0, 5).Draw(w.rt, "hides") == 0; t.hidden {
		opts = append(opts, instrument.RenewalsHidden())
		t.renewable, t.renewalsVisible = false, false
	}
	l.hides = t.hidden
	length := time.Duration(0)
	if rapid.IntRange(0, 3).Draw(w.rt, "granted") == 0 {
		length = 4 * s
		t.granted = length
		opts = append(opts, instrument.GrantedFrom(func() time.Duration { return length }))
	}
	effective := l.lease
	if length > 0 {
		effective = length
	}
	if rapid.Bool().Draw(w.rt, "expirer") {
		t.end = w.now + time.Duration(rapid.IntRange(-2, 20).Draw(w.rt, "end"))*tick
		t.says = t.end
		at := w.start.Add(t.end)
		opts = append(opts, instrument.ExpiryFrom(func() time.Time { return at }))
		switch {
		case effective > 0:
			t.sent = min(max(a.start, t.end-effective), w.now)
		case a.start != w.now:
			t.sent = w.now
		}
		if effective == 0 && w.now-a.start <= (t.end-w.now)/100 {
			t.sent = a.start
		}
	} else if effective > 0 && w.now-a.start < effective {
		t.end = a.start + effective
	}
	token, fenced := uint64(rapid.IntRange(1, 9).Draw(w.rt, "token")), rapid.Bool().Draw(w.rt, "fenced")
	if fenced {
		opts = append(opts, instrument.Token(token))
	}
	t.decided = t.sent
	l.learn(t, length, t.end >= 0)
	w.supersede(l)
	l.series["leader_acquired_total"]++
	l.won = w.now
	if fenced {
		if l.fenced && token < l.token && l.max == 1 {
			l.series["leader_fencing_token_regressions_total"]++
		}
		l.token, l.fenced = token, true
	}
	t.real = a.real.Won(instrument.NewLease(func(context.Context) error { return t.result }, opts...))
	l.terms = append(l.terms, t)
	t.lapse(w.now)
	t.ranOver(w.now)
}

// supersede ends what a win proves to be over, the earliest end first.
func (w *world) supersede(l *modelLock) {
	open, past := 0, []*modelTerm{}
	for _, t := range l.terms {
		t.lapse(w.now)
		if t.concluded {
			continue
		}
		open++
		if end, known := t.known(); known && w.now >= end || !known && l.keep && len(t.bodies) == 0 {
			past = append(past, t)
		}
	}
	slices.SortStableFunc(past, func(a, b *modelTerm) int {
		x, known := a.known()
		if !known {
			x = w.now + tick
		}
		y, known := b.known()
		if !known {
			y = w.now + tick
		}
		return int(x - y) // and the older of two, by the order of the list
	})
	for ; open >= l.max && len(past) > 0; open, past = open-1, past[1:] {
		t := past[0]
		end, known := t.known()
		if !known {
			end = w.now
		}
		t.ranOver(w.now)
		t.finish("expired", end, end)
		if !t.guarded {
			t.executed(end - t.won)
		}
	}
}

func (w *world) term() *modelTerm {
	l, _ := pick(w.rt, w.locks, "lock")
	t, _ := pick(w.rt, l.terms, "term")
	return t
}

func (w *world) renew() {
	t := w.term()
	if t == nil {
		return
	}
	var r instrument.Renewal
	back := time.Duration(rapid.IntRange(0, 8).Draw(w.rt, "sent")) * tick
	sent := w.now - back
	if rapid.IntRange(0, 3).Draw(w.rt, "timed") > 0 {
		r.Sent = w.start.Add(sent)
	}
	end := time.Duration(-1)
	if rapid.Bool().Draw(w.rt, "expirer") {
		end = sent + time.Duration(rapid.IntRange(1, 20).Draw(w.rt, "end"))*tick
		r.Expiry = w.start.Add(end)
	}
	if rapid.IntRange(0, 3).Draw(w.rt, "granted") == 0 {
		r.Granted = 5 * s
	}
	told := r
	if r.Granted == 0 {
		told.Granted = t.granted
	}
	w.renewed(t, told, sent, end)
	t.real.Sink().Renewed(r)
}

// renewed applies a good renewal to the model.
func (w *world) renewed(t *modelTerm, r instrument.Renewal, sent, end time.Duration) {
	l := t.l
	if t.concluded && (!t.lapsed || t.closed) {
		return
	}
	if t.concluded { // kept after all: another acquisition
		t.concluded, t.lapsed, t.won, t.end = false, false, w.now, -1
		l.series["leader_acquire_duration_seconds_count"]++
		l.series["leader_acquired_total"]++
		l.won = w.now
	}
	if _, known := t.known(); !known { // and it was renewed since, unseen
		t.end = -1
	}
	t.managed, t.renewable, t.renewalsVisible = true, true, true
	t.ranOver(w.now)
	l.series[`leader_renewals_total{result="ok"}`]++
	timed := !r.Sent.IsZero()
	if timed {
		l.series["leader_renewal_duration_seconds_count"]++
		l.series["leader_renewal_duration_seconds_sum"] += (w.now - sent).Seconds()
	}
	length := l.lease
	if l.granted > 0 {
		length = l.granted
	}
	if r.Granted > 0 {
		length = r.Granted
	}
	if !timed {
		sent = w.now
	}
	answered := end < 0 && t.says >= 0
	if answered && (t.end < 0 || t.says > t.end) {
		end = t.says
	}
	if end < 0 && length > 0 && !l.hidden && !t.hidden {
		end = sent + length
	}
	if end < 0 && answered {
		end = t.says
	}
	begins := sent
	if end >= 0 && length > 0 {
		begins = min(end-length, w.now)
	}
	if !timed {
		sent = begins
	}
	if timed && sent < t.decided {
		if end > t.end && t.end >= 0 {
			t.end = end
		}
		return
	}
	t.used(w.now)
	if timed || end < 0 || end > t.end {
		t.decided, t.sent, t.end = sent, begins, end
	}
	l.learn(t, r.Granted, end >= 0 && timed)
}

func (w *world) renewalFails() {
	t := w.term()
	if t == nil {
		return
	}
	err := rapid.SampledFrom([]error{errBackend, context.DeadlineExceeded, instrument.ErrLost}).Draw(w.rt, "error")
	result := map[error]string{errBackend: "error", context.DeadlineExceeded: "timeout", instrument.ErrLost: "lost"}[err]
	if t.concluded && result == "lost" {
		w.lost(t, "lost", true)
	}
	if !t.concluded {
		t.managed, t.renewable = true, true
		t.ranOver(w.now)
		t.l.series[`leader_renewals_total{result="`+result+`"}`]++
		if result == "lost" {
			w.lost(t, "lost", true)
		}
	}
	t.real.Sink().RenewalFailed(err)
}

func (w *world) lost(t *modelTerm, cause string, gone bool) {
	if t.concluded {
		t.lapsed = false // a loss that is told late ends what a renewal could revive
		return
	}
	late := w.now
	if end, known := t.known(); known && (end < w.now || !gone) {
		late = end
	}
	t.finish(cause, w.now, late)
	if !t.guarded {
		t.executed(w.now - t.won)
	}
}

func (w *world) lose() {
	t := w.term()
	if t == nil {
		return
	}
	cause := rapid.SampledFrom([]error{nil, errHeld, instrument.ErrContended, instrument.ErrGaveUp, context.Canceled}).Draw(w.rt, "cause")
	word := "lost"
	end, known := t.known()
	switch {
	case errors.Is(cause, context.Canceled):
		word = "canceled"
	case errors.Is(cause, instrument.ErrGaveUp) && known && w.now < end:
		word = "gave_up"
	}
	w.lost(t, word, errors.Is(cause, instrument.ErrContended))
	t.real.Sink().Lost(cause)
}

func (w *world) release() {
	t := w.term()
	if t == nil || t.closed {
		return
	}
	t.result = rapid.SampledFrom([]error{nil, errBackend, instrument.ErrSessionLost}).Draw(w.rt, "result")
	result := map[error]string{nil: "ok", errBackend: "error", instrument.ErrSessionLost: "not_owner"}[t.result]
	t.closed = true // calling again is another test's matter
	l := t.l
	l.series[`leader_releases_total{result="`+result+`"}`]++
	end, known := t.known()
	late := known && w.now > end
	if (!t.concluded || t.lapsed) && late && !t.overran && !l.keep {
		t.overrun()
	}
	switch {
	case t.concluded && !t.lapsed:
		if result != "error" { // released before the end of the lease
			t.late = min(t.late, w.now)
		}
	case t.lapsed:
		t.used(w.now)
		if !t.guarded {
			t.executed(w.now - t.won)
		}
	case !t.concluded:
		t.used(w.now)
		cause, from := map[string]string{"ok": "released", "error": "release_failed", "not_owner": "lost"}[result], w.now
		if known && w.now >= end {
			cause, from = "expired", end
		}
		t.finish(cause, w.now, from)
		if !t.guarded {
			t.executed(w.now - t.won)
		}
	}
	_ = t.real.Release(context.Background())
}

func (w *world) startBody() {
	t := w.term()
	if t == nil || len(t.bodies) > 2 {
		return
	}
	b := &modelBody{w.now, make(chan struct{}), make(chan struct{})}
	t.bodies = append(t.bodies, b)
	t.guarded = true
	running := make(chan struct{})
	go func() {
		defer close(b.done)
		_ = t.real.Work(context.Background(), func(context.Context, *instrument.Term) error {
			close(running)
			<-b.stop
			return nil
		})
	}()
	<-running
}

func (w *world) endBody() {
	t := w.term()
	if t == nil || len(t.bodies) == 0 {
		return
	}
	w.end(t)
}

func (w *world) end(t *modelTerm) {
	b := t.bodies[0]
	t.ranOver(w.now)
	close(b.stop)
	<-b.done
	t.bodies = t.bodies[1:]
	t.executed(w.now - b.start)
	t.lapse(w.now)
}

func (w *world) forget() {
	if rapid.IntRange(0, 7).Draw(w.rt, "forget") != 0 {
		return
	}
	l, _ := pick(w.rt, w.locks, "lock")
	for _, t := range l.terms {
		for len(t.bodies) > 0 { // bodies that continue are covered by another test
			w.end(t)
		}
	}
	l.e.Forget()
	for _, t := range l.terms {
		if !t.concluded {
			t.finish("abandoned", w.now, w.now)
		}
	}
	for _, a := range l.attempts {
		l.series[`leader_not_acquired_total{reason="unknown"}`]++
		l.series["leader_acquire_duration_seconds_count"]++
		l.series["leader_acquire_duration_seconds_sum"] += (w.now - a.start).Seconds()
	}
	if kept := w.labels[l.label]; kept != nil {
		for k, v := range l.series {
			kept.series[k] += v
		}
		kept.won, kept.ended = max(kept.won, l.won), max(kept.ended, l.ended)
	}
	w.open(l)
}

// want is what the model says of a label.
func (w *world) want(label string) electtest.Series {
	r := electtest.Series{}
	add := func(from electtest.Series) {
		for k, v := range from {
			r[k] += v
		}
	}
	won, ended := time.Duration(-1), time.Duration(-1)
	if kept := w.labels[label]; kept != nil {
		add(kept.series)
		won, ended = kept.won, kept.ended
	}
	least, known := time.Duration(0), false
	for _, l := range w.locks {
		if l.label != label {
			continue
		}
		add(l.series)
		won, ended = max(won, l.won), max(ended, l.ended)
		r["leader_pending"] += float64(len(l.attempts))
		r["leader_attempts_total"] += float64(len(l.attempts))
		for _, a := range l.attempts {
			r["leader_pending_age_seconds"] = max(r["leader_pending_age_seconds"], (w.now - a.start).Seconds())
		}
		for _, t := range l.terms {
			r["leader_running"] += float64(len(t.bodies))
			if t.active(w.now) {
				r["leader_active"]++
			}
			end, sure := t.known()
			if t.concluded || !sure {
				continue
			}
			if remaining := end - w.now; (!known || remaining < least) && !(l.keep && len(t.bodies) == 0) {
				least, known = remaining, true
			}
			if w.now >= end {
				ended = max(ended, end)
			}
		}
		if l.fenced && !l.shared {
			r["leader_fencing_token"] = float64(l.token)
			r["leader_fencing_token_regressions_total"] += 0
		}
	}
	if known {
		r["leader_lease_headroom_seconds"] = least.Seconds()
	}
	if won >= 0 {
		r["leader_last_acquired_timestamp_seconds"] = float64(w.start.Add(won).UnixNano()) / 1e9
	}
	if ended >= 0 {
		r["leader_last_ended_timestamp_seconds"] = float64(w.start.Add(ended).UnixNano()) / 1e9
	}
	for k, v := range r {
		if k == "leader_acquired_total" || len(k) > 25 && k[:25] == "leader_not_acquired_total" {
			r["leader_attempts_total"] += v
		}
	}
	return r
}

// settle has the model notice what holds at this instant.
func (w *world) settle() {
	for _, l := range w.locks {
		for _, t := range l.terms {
			t.lapse(w.now)
			t.ranOver(w.now)
		}
	}
}

// check holds the middleware to the model.
func (w *world) check() {
	for _, label := range []string{"own", "group", "shard-*"} {
		got, want := electtest.Read(w.m, label), w.want(label)
		for k, v := range got { // what the model does not count is zero
			if _, counted := want[k]; counted || v == 0 || isBucket(k) {
				continue
			}
			switch k {
			case "leader_max_leaders", "leader_lease_duration_seconds", "leader_lease_expiry_timestamp_seconds":
			default:
				if len(k) < 19 || k[:19] != "leader_elector_info" {
					want[k] = 0
				}
			}
		}
		absent := cmpopts.IgnoreMapEntries(func(k string, v float64) bool {
			_, there := got[k]
			_, wanted := want[k]
			return isBucket(k) || !wanted || !there && (v == 0 || hidden(w, label, k))
		})
		if diff := cmp.Diff(want, got, absent, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
			w.rt.Fatalf("%s at %v (-model +middleware):\n%s", label, w.now, diff)
		}
	}
}

// hidden reports series that are absent although the model counts: what a
// library hides, and tokens of shared labels.
func hidden(w *world, label, k string) bool {
	if k == "leader_fencing_token_regressions_total" {
		return label == "shard-*"
	}
	for _, l := range w.locks {
		if l.label == label && !l.hidden && !l.hides {
			return false
		}
	}
	return len(k) > 14 && k[:14] == "leader_renewal"
}

func (w *world) stop() {
	for _, l := range w.locks {
		for _, t := range l.terms {
			for len(t.bodies) > 0 {
				w.end(t)
			}
		}
	}
	w.check()
	_ = w.m.Close()
}

func runModel(rt *rapid.T) {
	w := newWorld(rt)
	ops := map[string]func(){
		"advance": func() {
			for range rapid.IntRange(1, 12).Draw(rt, "ticks") {
				w.advance()
			}
		},
		"begin": w.begin, "fail": w.fail, "win": w.win, "win again": w.win, "renew": w.renew, "renew again": w.renew, "renewal fails": w.renewalFails,
		"lose": w.lose, "release": w.release, "start": w.startBody, "end": w.endBody, "forget": w.forget,
	}
	names := make([]string, 0, len(ops))
	for name := range ops {
		names = append(names, name)
	}
	slices.Sort(names)
	polls := rapid.Bool().Draw(rt, "looks often")
	for range rapid.IntRange(1, 80).Draw(rt, "steps") {
		ops[rapid.SampledFrom(names).Draw(rt, "op")]()
		w.settle()
		if polls {
			w.check()
		}
	}
	w.stop()
}

func TestTheSeriesAgreeWithAModelOfTheTruth(t *testing.T) {
	long := 20 * time.Second
	if testing.Short() {
		long = time.Second
	}
	for begun := time.Now(); time.Since(begun) < long && !t.Failed(); {
		rapid.Check(t, runModel)
	}
}

// The same by a fuzzer, for longer runs.
func FuzzModel(f *testing.F) { f.Fuzz(rapid.MakeFuzz(runModel)) }
