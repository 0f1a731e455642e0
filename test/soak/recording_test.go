package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/test/server"
	"github.com/leaderscope/leaderscope/test/soak/timeline"
)

const ms = time.Millisecond

// deleted is a run in which the record of the leader was deleted after 10 s,
// and leader_active was 1 until the end that is given.
func deleted(elector string, until time.Duration, also ...applied) *recording {
	const holder = "candidate-1-1"
	r := &recording{
		Elector: elector, Start: began, Length: 20 * s,
		Applied: append([]applied{{fault: fault{Kind: remove}, From: 9990 * ms, To: 10 * s}}, also...),
	}
	for at := time.Duration(0); at < 20*s; at += looksEvery {
		l := timeline.Look{Asked: at, Answered: at + ms}
		if at < 10*s {
			l.Holder, l.Term = holder, "1"
		}
		r.Looks = append(r.Looks, l)
	}
	life := recordedLife{Holder: holder, Events: journalOf(0*s, eventRun, 100*ms, eventBegun, until+100*ms, eventEnded, until+200*ms, eventReturned)}
	for at := 130 * ms; at < 20*s; at += interval {
		got := reading{At: began.Add(at), Until: began.Add(at + ms), Series: electtest.Series{of(catalog.Active): 0}}
		if at < until {
			got.Series[of(catalog.Active)] = 1
		}
		life.Readings = append(life.Readings, got)
	}
	r.Lives = []recordedLife{life}
	return r
}

func TestAFalseLeaderIsJudgedByWhatItCouldHear(t *testing.T) {
	under := func(k kind, candidate int, from, to time.Duration) applied {
		return applied{fault: fault{Kind: k, Candidate: candidate}, From: from, To: to}
	}
	const most = 3800 * ms // without answers: the lease, of which a tenth is left when it gives up, and two scrapes
	for name, c := range map[string]struct {
		run     *recording
		lasted  time.Duration
		faults  []kind
		allowed time.Duration
		wrong   bool
	}{
		"a key that is deleted":                                   {deleted("redis", 11300*ms), 1300 * ms, []kind{remove}, 4*s/3 + scrapes, false},
		"a loss that is missed":                                   {deleted("redis", 13300*ms), 3300 * ms, []kind{remove}, 4*s/3 + scrapes, true},
		"a server that restarts before the next renewal":          {deleted("redis", 13300*ms, under(restart, 0, 11*s, 12*s)), 3300 * ms, []kind{remove, restart}, most, false},
		"longer than the lease":                                   {deleted("redis", 14300*ms, under(restart, 0, 11*s, 12*s)), 4300 * ms, []kind{remove, restart}, most, true},
		"a server that restarts when leader_active is 0 again":    {deleted("redis", 13300*ms, under(restart, 0, 14*s, 15*s)), 3300 * ms, []kind{remove}, 4*s/3 + scrapes, true},
		"a connection that is silent":                             {deleted("redis", 13300*ms, under(blackhole, 0, 9*s, 14*s)), 3300 * ms, []kind{remove, blackhole}, most, false},
		"the connection of another process is silent":             {deleted("redis", 13300*ms, under(blackhole, 1, 9*s, 14*s)), 3300 * ms, []kind{remove}, 4*s/3 + scrapes, true},
		"a key that is deleted in the first moment of its watch":  {deleted("nats", 10400*ms), 400 * ms, []kind{remove}, 450 * ms, false},
		"a watch that tells nothing":                              {deleted("nats", 10600*ms), 600 * ms, []kind{remove}, 450 * ms, true},
		"an advisory lock has no lease end":                       {deleted("postgres", 13300*ms, under(restart, 0, 11*s, 12*s)), 3300 * ms, []kind{remove, restart}, 500*ms + scrapes, true},
		"a watched key, whose deletion a silent connection hides": {deleted("etcd", 13300*ms, under(oneWay, 0, 9*s, 14*s)), 3300 * ms, []kind{remove, oneWay}, most, false},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := find(c.run.Elector)
			if err != nil {
				t.Fatal(err)
			}
			r := c.run.result(b)
			want := []falseLeader{{Holder: "candidate-1-1", From: 10030 * ms, To: 10030*ms + c.lasted, Lasted: c.lasted, Faults: c.faults, Allowed: c.allowed}}
			if diff := cmp.Diff(want, r.FalseLeader); diff != "" {
				t.Error(diff)
			}
			if got := len(r.wrong(b)) > 0; got != c.wrong {
				t.Errorf("%q", r.wrong(b))
			}
		})
	}
}

func TestWhatTheMachineDidLateIsNoFinding(t *testing.T) {
	suspended := applied{fault: fault{Kind: suspend}, From: 9500 * ms, To: 10 * s}
	stalled := func(from, to time.Duration) event {
		return event{At: began.Add(to), What: eventStalled, For: to - from}
	}
	for name, c := range map[string]struct {
		change func(*recording)
		want   time.Duration
	}{
		"nothing was late": {func(*recording) {}, 0},
		"the candidate":    {func(r *recording) { r.Lives[0].Events = append(r.Lives[0].Events, stalled(10100*ms, 10250*ms)) }, 150 * ms},
		"the candidate, suspended": {func(r *recording) {
			r.Applied = append(r.Applied, suspended)
			r.Lives[0].Events = append(r.Lives[0].Events, stalled(9500*ms, 10*s))
		}, 0},
		"the candidate, as it woke up": {func(r *recording) {
			r.Applied = append(r.Applied, suspended)
			r.Lives[0].Events = append(r.Lives[0].Events, stalled(9500*ms, 10040*ms))
		}, 40 * ms},
		"the soak": {func(r *recording) { r.Stalls = []timeline.Span{{From: 10100 * ms, To: 10200 * ms}} }, 100 * ms},
		"both, at once": {func(r *recording) {
			r.Stalls = []timeline.Span{{From: 10100 * ms, To: 10200 * ms}}
			r.Lives[0].Events = append(r.Lives[0].Events, stalled(10150*ms, 10250*ms))
		}, 150 * ms},
		"the server, by a look":      {func(r *recording) { r.Looks[410].Answered += 20 * ms; r.Looks[404].Answered += 60 * ms }, 61 * ms},
		"the server, long before":    {func(r *recording) { r.Looks[100].Answered += 60 * ms }, 0},
		"the server, which was down": {func(r *recording) { r.Looks[404].Answered += 60 * ms; r.Looks[404].Failed = true }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := deleted("etcd", 10400*ms)
			c.change(r)
			got := r.result(backends[0])
			if len(got.FalseLeader) != 1 || got.FalseLeader[0].Stalled != c.want {
				t.Errorf("%+v, want %v", got.FalseLeader, c.want)
			}
		})
	}
}

func TestARecordingIsJudgedAsTheRunWas(t *testing.T) {
	r := deleted("etcd", 10400*ms, applied{fault: fault{Kind: suspend, For: s}, From: 15 * s, To: 16 * s, Led: true})
	r.Lives[0].Last = &r.Lives[0].Readings[0]
	r.Writes = []write{{s, "candidate-1-1", false}, {12 * s, "candidate-1-1", true}}
	r.Loads, r.Stalls = []float64{1, 2}, []timeline.Span{{From: 10 * s, To: 10100 * ms}}
	file := filepath.Join(t.TempDir(), "run.json.gz")
	if err := r.write(file); err != nil {
		t.Fatal(err)
	}
	again, err := readRecording(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.result(backends[0]), again.result(backends[0]), cmp.AllowUnexported(harness{})); diff != "" {
		t.Error(diff)
	}
	want := "found\n\t" + strings.Join(r.result(backends[0]).wrong(backends[0]), "\n\t")
	if err := play(file); err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}

func TestAKeyIsWatchedWhenTheAdapterSays(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(server.Root(), "instrument/natskv/watch.go"))
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("\nconst watchAfter = %d * time.Millisecond\n", natsWatchAfter.Milliseconds()); !strings.Contains(string(text), want) {
		t.Errorf("natskv has no %q: what a soak allows it has changed", want)
	}
}
