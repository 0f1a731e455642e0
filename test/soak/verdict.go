package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/leaderscope/leaderscope/test/soak/history"
	"github.com/leaderscope/leaderscope/test/soak/timeline"
)

const (
	// mostAbsence is the most of the leadership that may be falsely absent.
	mostAbsence = 0.001
	// mostUnsafe is by how much an exported lease end may be later than the
	// backend's.
	mostUnsafe = 50 * time.Millisecond
	// mostUncounted is the part of answered renewals that may not be counted:
	// answers that came when the term was over, or to a question asked twice.
	mostUncounted = 0.2
)

// wrong are the promises that a run saw broken.
func (r *result) wrong(b backend) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for _, f := range r.falseLeaders(b) {
		if f.Lasted-f.Stalled > f.Allowed {
			add("leader_active was 1 for %v at a stretch without the lock%s; at most %v is explained, since %s", round(f.Lasted), f.circumstances(), round(f.Allowed), b.why)
		}
	}
	if absence, long := r.absence(); absence > mostAbsence && long > scrapes {
		add("leader_active was 0 for %.2f %% of the leadership although no fault kept answers away; at most %.1f %% is allowed", 100*absence, 100*mostAbsence)
	}
	if absence := r.Total.Part(r.Total.Active.KnownAbsence); absence > mostAbsence && r.Total.Active.KnownAbsence > scrapes {
		add("leader_active was 0 for %.2f %% of the leadership although an answer had arrived whose lease had not run out; at most %.1f %% is allowed", 100*absence, 100*mostAbsence)
	}
	if got := r.Headroom.Unsafe; got > mostUnsafe {
		add("the exported lease end was %v later than the backend's; at most %v is allowed", round(got), mostUnsafe)
	}
	for _, d := range r.Counters.Differences {
		add("counters: %s", d)
	}
	if n := r.Counters.Answered; n > 0 && float64(n-r.Counters.Counted) > 2+mostUncounted*float64(n) {
		add("counters: %d renewals were answered and %d counted", n, r.Counters.Counted)
	}
	if r.Record != history.Legal {
		add("the elector is broken, not the metric: by the backend's record the history of the lock is %s%s", r.Record, because(r.Illegal))
	}
	if r.Total.Led == 0 {
		add("no candidate led at a time that could be judged")
	}
	return all
}

// falseLeaders are the times of false leadership; of a result without them, the
// longest.
func (r *result) falseLeaders(b backend) []falseLeader {
	if longest := r.Total.Active.LongestLeader; r.FalseLeader == nil && longest > 0 {
		return []falseLeader{{Lasted: longest, Allowed: b.blind}}
	}
	return r.FalseLeader
}

// circumstances say when, whose and under what it was.
func (f falseLeader) circumstances() string {
	if f.Holder == "" {
		return ""
	}
	text := fmt.Sprintf(" (%s, %.1f s after the start", f.Holder, f.From.Seconds())
	for _, k := range f.Faults {
		text += ", " + string(k)
	}
	if f.Stalled > 0 {
		text += fmt.Sprintf("; the machine was late for %v of it", round(f.Stalled))
	}
	return text + ")"
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// absence is the part of the leadership in which leader_active was falsely 0
// under no fault that keeps answers away, and how long that was. What the
// machine explains does not count.
func (r *result) absence() (part float64, absent time.Duration) {
	var led time.Duration
	for k, f := range r.ByFault {
		if !k.unanswered() {
			absent += f.Active.FalseAbsence - f.Active.StalledAbsence
			led += f.Led
		}
	}
	return timeline.Figures{Led: led}.Part(absent), absent
}

// print writes a run's figures for people.
func (r *result) print(w io.Writer) {
	line := func(format string, args ...any) { fmt.Fprintf(w, r.Elector+": "+format+"\n", args...) }
	line("%s %s, seed %d, %.0f s, lease %v, %d terms", r.Server, r.Version, r.Seed, r.Length.Seconds(), r.Lease, r.Terms)
	row := func(name string, f timeline.Figures) {
		line("%-34s led %5.1f s; false leader %5.2f / %5.2f / %5.2f s; false absence %5.2f / %5.2f / %5.2f s, %.2f s of leader_active's with an answer; longest %.2f s; left out %d, unknown %d of %d", name, f.Led.Seconds(),
			f.Active.FalseLeader.Seconds(), f.Naive.FalseLeader.Seconds(), f.AfterLock.FalseLeader.Seconds(),
			f.Active.FalseAbsence.Seconds(), f.Naive.FalseAbsence.Seconds(), f.AfterLock.FalseAbsence.Seconds(), f.Active.KnownAbsence.Seconds(),
			f.Active.LongestLeader.Seconds(), f.LeftOut, f.Unknown, f.Judged+f.LeftOut+f.Unknown)
	}
	row("all: leader_active/naive/after lock", r.Total)
	for _, k := range slices.Sorted(maps.Keys(r.ByFault)) {
		row(string(k), r.ByFault[k])
	}
	for _, k := range slices.Sorted(maps.Keys(r.ToZero)) {
		z := r.ToZero[k]
		line("%-34s %d losses, %v to 0 at most, %d ended with the process", k, z.Losses, round(z.Most), z.Unseen)
	}
	line("woke up deposed: %d times; leader_active was 1 in %d first readings, the naive gauge in %d, the one set after Lock in %d", r.Woke.Deposed, r.Woke.Active, r.Woke.Naive, r.Woke.AfterLock)
	h := r.Headroom
	line("headroom: %d compared, median %v, later by %v at most, earlier by %v at most", h.Compared, round(h.Median), round(h.Unsafe), round(h.Safe))
	line("work after loss: %v exported, %v to %v by the record", round(r.AfterLoss.Exported), round(r.AfterLoss.Least), round(r.AfterLoss.Most))
	line("counters: %d readings, %d differences; %d renewals answered, %d counted", r.Counters.Readings, len(r.Counters.Differences), r.Counters.Answered, r.Counters.Counted)
	for _, f := range r.FalseLeader {
		line("false leader for %v%s, %v allowed", round(f.Lasted), f.circumstances(), round(f.Allowed))
	}
	if r.Illegal != "" {
		line("illegal: %s", r.Illegal)
	}
	line("history of the record: %s; work of two at once for %v, %v at most", r.Record, round(r.Overlap), round(r.LongestOverlap))
	line("register: %d writes, %d without the lock, %d refused", r.Writes.All, r.Writes.Unheld, r.Writes.Refused)
	line("load average %.1f, %d electors at once", r.Harness.Load, r.Harness.Together)
	line("referee: %d looks, %d failed, late by %v (median) and %v (most), took %v and %v", r.Harness.Looks, r.Harness.Failed,
		round(r.Harness.LateMedian), round(r.Harness.LateMost), round(r.Harness.LookMedian), round(r.Harness.LookMost))
}

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
