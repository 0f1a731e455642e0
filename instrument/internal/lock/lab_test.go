package lock

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// scenario is what happens to one lock. Each line of the script is an instant,
// an event and, behind the arrow, everything that it changed in what is known
// of the lock: what is not there is as it was.
type scenario struct {
	name   string
	params Params
	script string
}

func (c scenario) run(t *testing.T) {
	t.Run(c.name, func(t *testing.T) {
		l := newLab(t, c.params)
		for line := range strings.Lines(c.script) {
			event, want, _ := strings.Cut(strings.TrimSpace(line), "=>")
			if event = strings.TrimSpace(event); event == "" {
				continue
			}
			if got := l.step(strings.Fields(event)); got != strings.TrimSpace(want) {
				t.Errorf("%s => %s\n\twant %s", event, got, strings.TrimSpace(want))
			}
		}
	})
}

// lab drives a State. Instants are counted from Origin, and so is Unix time.
type lab struct {
	*testing.T
	*State
	now      Instant
	flight   Instant
	attempts map[string]*Attempt
	terms    map[string]*Term
	owners   map[string]*owner
	bodies   map[string]Instant
	seen     map[string]string
	answer   []string
}

type owner struct{ lapses int }

func (o *owner) Lapsed() { o.lapses++ }

func newLab(t *testing.T, p Params) *lab {
	return &lab{
		T: t, State: &State{Params: &p, Outbox: &Outbox{}, history: &History{most: 100}}, attempts: map[string]*Attempt{}, terms: map[string]*Term{},
		owners: map[string]*owner{}, bodies: map[string]Instant{}, seen: map[string]string{},
	}
}

// step does one event and returns what it changed.
func (l *lab) step(words []string) string {
	l.now, l.answer = l.instant(words[0]), nil
	event, ok := events[words[1]]
	if !ok {
		l.Fatalf("unknown event %q", words[1])
	}
	event(l, arguments(words[2:]))
	l.Settle(l.now)
	facts := l.facts()
	for _, key := range slices.Sorted(maps.Keys(facts)) {
		if l.seen[key] != facts[key] {
			l.answer = append(l.answer, key+"="+facts[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(l.seen)) {
		if _, ok := facts[key]; !ok {
			l.answer = append(l.answer, key+"=-")
		}
	}
	l.seen = facts
	return strings.Join(l.answer, " ")
}

func (l *lab) says(yes bool, word string) {
	if !yes {
		word = "not-" + word
	}
	l.answer = append(l.answer, word)
}

func (l *lab) instant(text string) Instant {
	if text == "" || text == "0" {
		return 0
	}
	return Origin.Add(l.duration(text))
}

func (l *lab) duration(text string) time.Duration {
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		l.Fatal(err)
	}
	return d
}

func (l *lab) term(name string) *Term {
	if l.terms[name] == nil {
		l.terms[name] = &Term{}
	}
	return l.terms[name]
}

// facts is all that is known, without what is zero.
func (l *lab) facts() map[string]string {
	var f Facts
	l.AddTo(&f, Moment{Now: l.now, Wall: time.Unix(0, 0).Add(l.now.Sub(Origin))})
	all := map[string]string{}
	put(all, "acquired", f.Acquired)
	put(all, "active", f.Active)
	put(all, "running", f.Running)
	put(all, "pending", f.Pending)
	put(all, "age", f.PendingAge)
	put(all, "lease", f.Lease)
	put(all, "won", f.LastWon)
	put(all, "ended", f.LastEnded)
	put(all, "expiry", f.Expiry)
	put(all, "overran", f.Overruns())
	put(all, "unlogged", l.Unlogged)
	put(all, "regressed", f.Regressions())
	put(all, "afterloss", f.WorkAfterLoss())
	if f.LeaseSeen != (f.Lease > 0) {
		all["seen"] = fmt.Sprint(f.LeaseSeen)
	}
	if f.LeftKnown {
		all["left"] = fmt.Sprint(f.Left)
	}
	if f.Fenced {
		all["token"] = fmt.Sprint(f.Token)
	}
	counts(all, "failed", f.NotAcquired(), func(i int) string { return catalog.Reason(i).String() })
	counts(all, "over", f.Ended(), func(i int) string { return catalog.EndCause(i).String() })
	counts(all, "gave", f.Releases(), func(i int) string { return catalog.ReleaseResult(i).String() })
	counts(all, "renewed", f.Renewals(), func(i int) string { return catalog.RenewalResult(i).String() })
	counts(all, "broke", f.Failures(), func(i int) string { return catalog.FailureCause(i).String() })
	distribution(all, "took", &f.Acquire)
	distribution(all, "ran", &f.Execution)
	distribution(all, "used", &f.Usage)
	distribution(all, "asked", f.RenewalDuration())
	for name, t := range l.terms {
		l.factsOf(all, name, t)
	}
	l.sightOf(all)
	l.agrees(&f)
	return all
}

// agrees holds the terms that are listed to what is counted.
func (l *lab) agrees(f *Facts) {
	l.Helper()
	var ended [catalog.EndCauses]uint64
	var last float64
	for _, e := range l.AppendEnded(nil) {
		ended[e.Cause]++
		last = max(last, Moment{Wall: time.Unix(0, 0)}.Unix(e.Ended-Origin))
	}
	if want := f.Ended(); ended != want {
		l.Errorf("terms that ended, by cause: %v are listed, %v are counted", ended, want)
	}
	if counted := l.lastEnded.in(Moment{Now: l.now, Wall: time.Unix(0, 0).Add(l.now.Sub(Origin))}); last != counted && last != 0 { // drained

		l.Errorf("the last term ended at %v as listed, at %v as counted", last, counted)
	}
	active, running := 0, 0
	for _, o := range l.AppendOpen(nil, l.now) {
		if running += o.Bodies; o.Active {
			active++
		}
	}
	if active != f.Active || running != f.Running {
		l.Errorf("open terms: %d active and %d bodies are listed, %d and %d counted", active, running, f.Active, f.Running)
	}
}

// sightOf is what the backend says. "up" is whether it is believed.
func (l *lab) sightOf(all map[string]string) {
	if names := l.AppendIdentities(nil); len(names) > 0 {
		all["as"] = strings.Join(names, ",")
	}
	if !l.Viewed() {
		return
	}
	var v Sight
	l.AddSight(&v, Moment{Now: l.now, Wall: time.Unix(0, 0).Add(l.now.Sub(Origin))})
	put(all, "v.watched", v.Watched)
	put(all, "v.up", v.Known)
	put(all, "v.held", v.Held)
	put(all, "v.holder", v.Holder)
	put(all, "v.end", v.End)
	put(all, "v.length", v.Length)
	put(all, "v.every", v.Every)
	put(all, "v.told", v.Told)
	put(all, "v.terms", v.Terms)
	put(all, "v.vacant", v.Vacant)
	distribution(all, "v.gaps", &v.Handover)
	if v.Counted {
		all["v.token"] = fmt.Sprint(v.Token)
	}
}

func (l *lab) factsOf(all map[string]string, name string, t *Term) {
	cause, ended := t.Ended()
	switch {
	case t.Lapsed():
		all[name] = "lapsed"
	case ended:
		all[name] = cause.String()
	case t.Stopped() != 0:
		all[name] = "stopped"
	case !t.Recorded():
		all[name] = "unrecorded"
	default:
		all[name] = "held"
	}
	if end := l.State.End(t); end != 0 {
		all[name+".end"] = fmt.Sprint(end.Sub(Origin))
	}
	if l.State.Active(t, l.now) {
		all[name+".active"] = "true"
	}
	if l.Observed() == t {
		all[name+".observed"] = "true"
	}
	if t.Freed() {
		all[name+".freed"] = "true"
	}
	put(all, name+".bodies", t.Bodies())
	if o := l.owners[name]; o != nil {
		put(all, name+".told", o.lapses)
	}
}

func put[V comparable](all map[string]string, key string, v V) {
	if v != *new(V) {
		all[key] = fmt.Sprint(v)
	}
}

func counts[A [8]uint64 | [7]uint64 | [5]uint64 | [3]uint64 | [2]uint64](all map[string]string, key string, counts A, word func(int) string) {
	var parts []string
	for i := range len(counts) {
		if n := counts[i]; n != 0 {
			parts = append(parts, fmt.Sprintf("%s:%d", word(i), n))
		}
	}
	put(all, key, strings.Join(parts, ","))
}

func distribution(all map[string]string, key string, d *Distribution) {
	var n uint64
	for i := range MaxBounds + 1 {
		n += d.Bucket(i)
	}
	if n > 0 {
		all[key] = fmt.Sprintf("%d/%s", n, strconv.FormatFloat(d.Sum, 'g', 6, 64))
	}
}

// words are the arguments of an event: names by position, and key=value.
type words struct {
	names []string
	by    map[string]string
}

func arguments(fields []string) words {
	w := words{by: map[string]string{}}
	for _, f := range fields {
		if key, value, ok := strings.Cut(f, "="); ok {
			w.by[key] = value
		} else {
			w.names = append(w.names, f)
		}
	}
	return w
}

func (w words) name(i int) string {
	if i < len(w.names) {
		return w.names[i]
	}
	return ""
}

func (w words) has(name string) bool { return slices.Contains(w.names, name) }

func value[V ~uint8](l *lab, n int, text string, word func(V) string) V {
	for v := range V(n) {
		if word(v) == text {
			return v
		}
	}
	l.Fatalf("unknown value %q", text)
	return 0
}

var losses = []string{"gone", "reported", "gave-up", "stopped", "stopped-and-gone"}

// events are what a script can say.
var events = map[string]func(*lab, words){
	"look-on": func(*lab, words) {},
	"begin": func(l *lab, w words) {
		if name := w.name(0); name != "" {
			l.attempts[name] = &Attempt{}
			l.Begin(l.attempts[name], l.now)
			return
		}
		entered := l.Flight.Enter(l.now)
		if entered {
			l.flight = l.now
		}
		l.says(entered, "entered")
	},
	"fail": func(l *lab, w words) {
		l.Fail(l.attempts[w.by["by"]], l.flight, l.now, value(l, catalog.Reasons, w.name(0), catalog.Reason.String))
	},
	"refused": func(l *lab, w words) {
		l.Refused(value(l, catalog.Reasons, w.name(0), catalog.Reason.String))
	},
	"win": win,
	"dead": func(l *lab, w words) {
		l.WinDead(l.term(w.name(0)), l.attempts[w.by["by"]], l.flight, l.now)
	},
	"stop": func(l *lab, w words) { l.says(l.term(w.name(0)).Stop(l.now), "stopped") },
	"release": func(l *lab, w words) { // in one go
		t := l.term(w.name(0))
		l.says(l.Released(t, t.Stop(l.now), l.now, value(l, catalog.ReleaseResults, w.name(1), catalog.ReleaseResult.String)), "ended")
	},
	"released": func(l *lab, w words) { // the answer to a release that began with a stop
		t := l.term(w.name(0))
		l.says(l.Released(t, true, t.Stopped(), value(l, catalog.ReleaseResults, w.name(1), catalog.ReleaseResult.String)), "ended")
	},
	"sending":  func(l *lab, w words) { l.Sending(l.term(w.name(0)), l.now) },
	"answered": func(l *lab, w words) { l.Answered(l.term(w.name(0)), l.now) },
	"blind":    func(l *lab, w words) { l.Blind(l.term(w.name(0)), l.now) },
	"renew":    renew,
	"lost": func(l *lab, w words) {
		how := Loss(slices.Index(losses, w.name(1)))
		l.says(l.Lost(l.term(w.name(0)), l.now, how), "ended")
	},
	"body": func(l *lab, w words) {
		l.bodies[w.name(1)] = l.now
		l.BodyStarts(l.term(w.name(0)), l.now)
	},
	"done": func(l *lab, w words) {
		failure, failed := catalog.FailedWithError, w.name(2) != ""
		if failed {
			failure = value(l, catalog.FailureCauses, w.name(2), catalog.FailureCause.String)
		}
		l.BodyEnds(l.term(w.name(0)), l.bodies[w.name(1)], l.now, failure, failed)
	},
	"fence": func(l *lab, w words) {
		token, err := strconv.ParseUint(w.name(1), 10, 64)
		l.Fence(l.term(w.name(0)), token)
		if err != nil {
			l.Fatal(err)
		}
	},
	"sight":       func(l *lab, w words) { l.FirstSight(l.lastSeen(w)) },
	"look":        func(l *lab, w words) { l.Steady(l.lastSeen(w)) },
	"held":        func(l *lab, w words) { l.answer = append(l.answer, fmt.Sprint(l.term(w.name(0)).Held(l.now))) },
	"idle":        func(l *lab, _ words) { l.says(l.Idle(l.now), "idle") },
	"resume":      func(l *lab, _ words) { l.Resume() },
	"retire":      func(l *lab, _ words) { l.Retire(l.now); l.says(l.Retired(), "retired") },
	"drain":       func(l *lab, _ words) { l.Drain() },
	"sees":        sees,
	"identify":    func(l *lab, w words) { l.Identify(w.name(0)) },
	"unidentify":  func(l *lab, w words) { l.Unidentify(w.name(0)) },
	"drain-sight": func(l *lab, _ words) { l.DrainSight() },
	"ends": func(l *lab, _ words) {
		active, end := l.ActiveEnd(l.now)
		l.says(active, "active")
		if end != 0 {
			l.answer = append(l.answer, fmt.Sprint(end.Sub(Origin)))
		}
	},
}

func win(l *lab, w words) {
	start := l.flight
	if since := w.by["since"]; since != "" {
		start = l.instant(since)
	}
	won := &Won{
		Now: l.now, End: l.instant(w.by["end"]), Length: l.duration(w.by["length"]),
		Endless: w.has("endless"), Observed: w.has("observed"),
	}
	switch {
	case w.has("may-renew"):
		won.Renewals = MayRenew
	case w.has("renews"):
		won.Renewals = ShownRenewals
	case w.has("hides"):
		won.Renewals = HidesRenewals
	}
	if text := w.by["token"]; text != "" {
		token, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			l.Fatal(err)
		}
		won.Token, won.Fenced = token, true
	}
	t := l.term(w.name(0))
	if w.has("owned") {
		l.owners[w.name(0)] = &owner{}
		t.Use(&More{Owner: l.owners[w.name(0)]})
	}
	a := l.attempts[w.by["by"]]
	if a != nil && w.by["since"] == "" {
		start = a.Start()
	}
	superseded := l.Win(t, a, start, won)
	if t.Lapsed() {
		l.answer = append(l.answer, "at-once")
	}
	for _, expired := range superseded {
		for name, t := range l.terms {
			if t == expired {
				l.answer = append(l.answer, "ends-"+name)
			}
		}
	}
}

func renew(l *lab, w words) {
	recorded, ended := l.Renewed(l.term(w.name(0)), Renewal{
		Result: value(l, catalog.RenewalResults, w.name(1), catalog.RenewalResult.String),
		Sent:   l.instant(w.by["sent"]), Now: l.now, End: l.instant(w.by["end"]), Length: l.duration(w.by["length"]),
		Endless: w.has("endless"), OnDemand: w.has("on-demand"), Asked: w.has("asked"),
	})
	l.says(recorded, "recorded")
	if ended {
		l.answer = append(l.answer, "ended")
	}
}

var standings = []string{"nothing", "held", "vacant", "unwatched"}

// sees looks at the backend: "sees held by=a" is a holder of that name.
func sees(l *lab, w words) {
	read := Look{
		Now: l.now, Standing: Standing(slices.Index(standings, w.name(0))), Label: w.by["by"],
		End: l.instant(w.by["end"]), Length: l.duration(w.by["length"]), Valid: l.duration(w.by["valid"]), Every: l.duration(w.by["every"]),
	}
	for _, r := range w.by["by"] {
		read.Holder = read.Holder*31 + uint64(r)
	}
	if text := w.by["token"]; text != "" {
		token, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			l.Fatal(err)
		}
		read.Token, read.Counted = token, true
	}
	if known := l.HolderLabel(read.Holder); known != "" && known != read.Label {
		l.Errorf("the label of %q is %q", read.Label, known)
	}
	l.Look(read)
}

func (l *lab) lastSeen(w words) Seen {
	return Seen{Asked: l.instant(w.by["asked"]), Now: l.now, End: l.instant(w.by["end"]), Endless: w.has("endless"), Length: l.duration(w.by["length"])}
}
