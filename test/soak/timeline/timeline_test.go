package timeline

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const ms = time.Millisecond

// looks are one every 20 ms, each of which takes 2 ms, while the record is
// what parts say, one after the other.
func looks(parts ...part) (all []Look) {
	at := time.Duration(0)
	for _, p := range parts {
		for end := at + p.for_; at < end; at += 20 * ms {
			l := Look{Asked: at, Answered: at + 2*ms, Holder: p.holder, Term: p.term, Failed: p.failed}
			if p.until > 0 {
				l.Rest = p.until - at - ms
			}
			all = append(all, l)
		}
	}
	return all
}

type part struct {
	holder, term string
	for_         time.Duration
	until        time.Duration // lease end
	failed       bool
}

func TestTheHolderIsWhoTheLooksAgreeOn(t *testing.T) {
	truth := NewTruth(looks(
		part{holder: "a", term: "1", for_: time.Second},
		part{for_: time.Second},
		part{failed: true, for_: time.Second},
		part{for_: time.Second},
		part{holder: "b", term: "2", for_: 500 * ms},
		part{failed: true, for_: 500 * ms},
		part{holder: "b", term: "2", for_: 500 * ms},
		part{holder: "b", term: "3", for_: 500 * ms},
	), 100*ms)
	type answer struct {
		Holder string
		Known  bool
	}
	for name, c := range map[string]struct {
		span Span
		want answer
	}{
		"in the middle of a term":              {Span{500 * ms, 510 * ms}, answer{"a", true}},
		"across a look that shows the same":    {Span{490 * ms, 530 * ms}, answer{"a", true}},
		"before the first answer":              {Span{ms, 3 * ms}, answer{}},
		"while the holder changes":             {Span{985 * ms, 990 * ms}, answer{}},
		"across a change":                      {Span{900 * ms, 1100 * ms}, answer{}},
		"free":                                 {Span{1500 * ms, 1510 * ms}, answer{"", true}},
		"free before and after missing looks":  {Span{2500 * ms, 2510 * ms}, answer{}},
		"one term before and after such looks": {Span{4700 * ms, 4710 * ms}, answer{"b", true}},
		"between two terms of one holder":      {Span{5485 * ms, 5490 * ms}, answer{}},
		"the next term of the same holder":     {Span{5700 * ms, 5710 * ms}, answer{"b", true}},
		"after the last look":                  {Span{7000 * ms, 7010 * ms}, answer{}},
	} {
		t.Run(name, func(t *testing.T) {
			holder, known := truth.Holder(c.span)
			if diff := cmp.Diff(c.want, answer{holder, known}); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got, want := truth.Held(), 978*ms+1478*ms+478*ms; got != want {
		t.Errorf("held for %v, want %v", got, want)
	}
	terms := []Term{
		{"a", "1", Span{0, 2 * ms}, Span{980 * ms, 1002 * ms}},
		{"b", "2", Span{3980 * ms, 4002 * ms}, Span{5480 * ms, 5502 * ms}},
		{"b", "3", Span{5480 * ms, 5502 * ms}, Span{}},
	}
	if diff := cmp.Diff(terms, truth.Terms()); diff != "" {
		t.Error(diff)
	}
}

func TestATermThatComesBackIsOneTerm(t *testing.T) {
	late := looks(part{holder: "a", term: "1", for_: 100 * ms}, part{for_: 100 * ms}, part{holder: "a", term: "1", for_: 100 * ms})
	for name, c := range map[string]struct {
		looks []Look
		until Span
	}{
		"it is held":    {late, Span{}},
		"it ends again": {append(late, Look{Asked: 300 * ms, Answered: 302 * ms}), Span{280 * ms, 302 * ms}},
	} {
		t.Run(name, func(t *testing.T) {
			truth := NewTruth(c.looks, 100*ms)
			if diff := cmp.Diff([]Term{{"a", "1", Span{0, 2 * ms}, c.until}}, truth.Terms()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// samples are one every 100 ms, each of which takes 1 ms.
func samples(from, to time.Duration, what Sample) (all []Sample) {
	for at := from; at < to; at += 100 * ms {
		s := what
		s.Span = Span{at, at + ms}
		all = append(all, s)
	}
	return all
}

func join(parts ...[]Sample) (all []Sample) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

var (
	every = Rules{Interval: 100 * ms, Late: 50 * ms}
	idle  = Sample{}
	leads = Sample{Active: true, Naive: true, AfterLock: true}
	naive = Sample{Naive: true, AfterLock: true}
)

func TestGaugesAreComparedWithTheRecord(t *testing.T) {
	// a holds the lock for two seconds, then no replica for one second, then b.
	truth := NewTruth(looks(
		part{holder: "a", term: "1", for_: 2 * time.Second},
		part{for_: time.Second},
		part{holder: "b", term: "2", for_: 2 * time.Second},
	), 100*ms)
	tenure := []Span{{0, 2 * time.Second}}
	at := func(ats time.Duration) time.Duration { return ats + 50*ms } // between looks and changes
	for name, c := range map[string]struct {
		life Life
		want Figures
	}{
		"a holder that says so": {
			Life{"a", samples(at(0), at(2*time.Second), leads), tenure, nil},
			Figures{Led: 2 * time.Second, Judged: 20},
		},
		"a naive gauge stays when the lease has ended": {
			Life{"a", join(samples(at(0), at(2*time.Second), leads), samples(at(2*time.Second), at(2500*ms), naive), samples(at(2500*ms), at(3*time.Second), idle)), tenure, nil},
			Figures{Led: 2 * time.Second, Judged: 30,
				Naive:     Gauge{FalseLeader: 500 * ms, LongestLeader: 500 * ms},
				AfterLock: Gauge{FalseLeader: 500 * ms, LongestLeader: 500 * ms}},
		},
		"another holds it": {
			Life{"a", samples(at(3*time.Second), at(3300*ms), Sample{Active: true}), tenure, nil},
			Figures{Judged: 3, Active: Gauge{FalseLeader: 300 * ms, LongestLeader: 300 * ms}},
		},
		"the longest of two stretches": {
			Life{"a", join(samples(at(3*time.Second), at(3300*ms), naive), samples(at(3300*ms), at(3500*ms), idle), samples(at(3500*ms), at(4*time.Second), naive)), nil, nil},
			Figures{Judged: 10,
				Naive:     Gauge{FalseLeader: 800 * ms, LongestLeader: 500 * ms},
				AfterLock: Gauge{FalseLeader: 800 * ms, LongestLeader: 500 * ms}},
		},
		"absent in its tenure": {
			Life{"a", samples(at(500*ms), at(900*ms), naive), tenure, nil},
			Figures{Led: 400 * ms, Judged: 4, Active: Gauge{FalseAbsence: 400 * ms, KnownAbsence: 400 * ms}},
		},
		"absent in its tenure, and no answer says better after half of it": {
			Life{"a", join(samples(at(500*ms), at(700*ms), naive), samples(at(700*ms), at(900*ms), Sample{Naive: true, AfterLock: true, Unknowable: true})), tenure, nil},
			Figures{Led: 400 * ms, Judged: 4, Active: Gauge{FalseAbsence: 400 * ms, KnownAbsence: 200 * ms}},
		},
		"absent while it gives the lock back": {
			Life{"a", samples(at(500*ms), at(900*ms), naive), []Span{{0, 500 * ms}}, nil},
			Figures{Led: 400 * ms, Judged: 4},
		},
		"the record of an earlier life is not this one's": {
			Life{"a.2", samples(at(500*ms), at(900*ms), idle), nil, nil},
			Figures{Judged: 4},
		},
		"a reading that took long is left out": {
			Life{"a", []Sample{{Span: Span{at(500 * ms), at(600 * ms)}}}, tenure, nil},
			Figures{LeftOut: 1},
		},
		"a reading at a change is not judged": {
			Life{"a", []Sample{{Span: Span{1999 * ms, 2000 * ms}}}, tenure, nil},
			Figures{Unknown: 1},
		},
		"a sample stands for two intervals at most": {
			Life{"a", []Sample{{Span: Span{at(0), at(ms)}, Active: true}, {Span: Span{at(1500 * ms), at(1501 * ms)}, Active: true}}, tenure, nil},
			Figures{Led: 300 * ms, Judged: 2, Naive: Gauge{FalseAbsence: 300 * ms, KnownAbsence: 300 * ms}, AfterLock: Gauge{FalseAbsence: 300 * ms, KnownAbsence: 300 * ms}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Judge(truth, c.life, every, func(time.Duration) string { return "" })
			if diff := cmp.Diff(map[string]*Figures{"": &c.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFiguresBelongToTheFaultOfTheirTime(t *testing.T) {
	truth := NewTruth(looks(part{for_: time.Second}), 100*ms)
	fault := func(at time.Duration) string {
		if at < 500*ms {
			return "suspended"
		}
		return "killed"
	}
	got := Judge(truth, Life{"a", samples(150*ms, 950*ms, naive), nil, nil}, every, fault)
	four := Gauge{FalseLeader: 400 * ms, LongestLeader: 400 * ms}
	three := Gauge{FalseLeader: 400 * ms, LongestLeader: 800 * ms}
	want := map[string]*Figures{
		"suspended": {Judged: 4, Naive: four, AfterLock: four},
		"killed":    {Judged: 4, Naive: three, AfterLock: three},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	sum := Figures{}
	for _, f := range got {
		sum.Add(*f)
	}
	both := Gauge{FalseLeader: 800 * ms, LongestLeader: 800 * ms}
	if diff := cmp.Diff(Figures{Judged: 8, Naive: both, AfterLock: both}, sum); diff != "" {
		t.Error(diff)
	}
}

func TestATimeIsScaledToAnHourOfLeadership(t *testing.T) {
	for name, c := range map[string]struct{ led, wrong, want time.Duration }{
		"two minutes":   {2 * time.Minute, time.Second, 30 * time.Second},
		"no leadership": {0, time.Second, 0},
		"never wrong":   {time.Minute, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (Figures{Led: c.led}).PerHour(c.wrong); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestALossTakesTimeToShow(t *testing.T) {
	truth := NewTruth(looks(part{holder: "a", term: "1", for_: time.Second}, part{holder: "b", term: "2", for_: 2 * time.Second}), 100*ms)
	end := Span{980 * ms, 1002 * ms}
	tenure := []Span{{0, 3 * time.Second}}
	for name, c := range map[string]struct {
		life Life
		want []Loss
	}{
		"0 at the first sample": {
			Life{"a", join(samples(50*ms, 1050*ms, leads), samples(1050*ms, 2*time.Second, idle)), tenure, nil}, []Loss{{end, 0, true}},
		},
		"0 after three samples": {
			Life{"a", join(samples(50*ms, 1350*ms, leads), samples(1350*ms, 2*time.Second, idle)), tenure, nil}, []Loss{{end, 348 * ms, true}},
		},
		"1 up to the end": {
			Life{"a", samples(50*ms, 1350*ms, leads), tenure, nil}, []Loss{{end, 249 * ms, false}},
		},
		"given back": {
			Life{"a", samples(50*ms, 1350*ms, leads), []Span{{0, 990 * ms}}, nil}, nil,
		},
		"another's": {
			Life{"c", samples(50*ms, 1350*ms, leads), tenure, nil}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Losses(truth, c.life)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAProcessWakesUp(t *testing.T) {
	truth := NewTruth(looks(part{holder: "a", term: "1", for_: time.Second}, part{holder: "b", term: "2", for_: 2 * time.Second}), 100*ms)
	before := samples(50*ms, 550*ms, leads)
	for name, c := range map[string]struct {
		samples   []Sample
		suspended Span
		want      Woke
	}{
		"deposed, and says so":       {join(before, samples(1510*ms, 1800*ms, naive)), Span{500 * ms, 1500 * ms}, Woke{Deposed: 1, Naive: 1, AfterLock: 1}},
		"deposed, and does not":      {join(before, samples(1510*ms, 1550*ms, leads), samples(1610*ms, 1800*ms, idle)), Span{500 * ms, 1500 * ms}, Woke{Deposed: 1, Active: 1, Naive: 1, AfterLock: 1}},
		"still the leader":           {join(before, samples(710*ms, 900*ms, leads)), Span{500 * ms, 700 * ms}, Woke{}},
		"it had not led":             {join(samples(50*ms, 550*ms, idle), samples(1510*ms, 1800*ms, idle)), Span{500 * ms, 1500 * ms}, Woke{}},
		"it was killed in its sleep": {before, Span{500 * ms, 1500 * ms}, Woke{}},
		"the record changes then":    {join(before, []Sample{{Span: Span{990 * ms, 1000 * ms}}}), Span{500 * ms, 980 * ms}, Woke{}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, FirstAwake(truth, Life{Holder: "a", Samples: c.samples}, c.suspended)); diff != "" {
				t.Error(diff)
			}
		})
	}
	sum := Woke{Deposed: 1, Active: 2, Naive: 3, AfterLock: 4}
	sum.Add(Woke{Deposed: 10, Active: 10, Naive: 10, AfterLock: 10})
	if diff := cmp.Diff(Woke{Deposed: 11, Active: 12, Naive: 13, AfterLock: 14}, sum); diff != "" {
		t.Error(diff)
	}
}

func TestATermThatComesBackIsNoLoss(t *testing.T) {
	truth := NewTruth(looks(part{holder: "a", term: "1", for_: time.Second}, part{for_: time.Second}, part{holder: "a", term: "1", for_: time.Second}), 100*ms)
	life := Life{"a", samples(50*ms, 2950*ms, leads), []Span{{0, 3 * time.Second}}, nil}
	if got := Losses(truth, life); got != nil {
		t.Errorf("%v", got)
	}
	if least, most := AfterLoss(truth, life, []Span{{100 * ms, 2900 * ms}}); least != 0 || most != 0 {
		t.Errorf("%v to %v of work after it", least, most)
	}
}

func TestALockThatIsTakenAgainIsLostUntilThen(t *testing.T) {
	truth := NewTruth(looks(part{holder: "a", term: "1", for_: time.Second}, part{for_: time.Second}, part{holder: "a", term: "2", for_: time.Second}), 100*ms)
	life := Life{"a", samples(50*ms, 2950*ms, leads), []Span{{0, 3 * time.Second}}, nil}
	// The samples at 1050 to 1950 ms said 1 without the lock.
	if diff := cmp.Diff([]Loss{{Span{980 * ms, 1002 * ms}, 949 * ms, true}}, Losses(truth, life)); diff != "" {
		t.Error(diff)
	}
	least, most := AfterLoss(truth, life, []Span{{100 * ms, 2900 * ms}})
	if least != 978*ms || most != 1022*ms {
		t.Errorf("%v to %v of work after it, want 978ms to 1022ms", least, most)
	}
}

func TestWorkAfterALossLiesBetweenTwoLooks(t *testing.T) {
	truth := NewTruth(looks(part{holder: "a", term: "1", for_: time.Second}, part{for_: time.Second}), 100*ms)
	type answer struct{ Least, Most time.Duration }
	for name, c := range map[string]struct {
		work []Span
		want answer
	}{
		"continues":            {[]Span{{100 * ms, 1500 * ms}}, answer{498 * ms, 520 * ms}},
		"stops before":         {[]Span{{100 * ms, 900 * ms}}, answer{}},
		"stops at that moment": {[]Span{{100 * ms, 990 * ms}}, answer{0, 10 * ms}},
		"is of a later term":   {[]Span{{1200 * ms, 1500 * ms}}, answer{}},
	} {
		t.Run(name, func(t *testing.T) {
			least, most := AfterLoss(truth, Life{Holder: "a"}, c.work)
			if diff := cmp.Diff(c.want, answer{least, most}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWorkOfTwoOverlaps(t *testing.T) {
	type answer struct{ Sum, Longest time.Duration }
	for name, c := range map[string]struct {
		work []Span
		want answer
	}{
		"one after the other":         {[]Span{{0, 100}, {100, 200}}, answer{}},
		"two":                         {[]Span{{0, 100}, {70, 200}}, answer{30, 30}},
		"two times":                   {[]Span{{0, 100}, {70, 200}, {150, 300}}, answer{80, 50}},
		"one within the other":        {[]Span{{0, 100}, {40, 50}}, answer{10, 10}},
		"one stretch with two others": {[]Span{{0, 200}, {50, 100}, {100, 150}}, answer{100, 100}},
		"three":                       {[]Span{{0, 100}, {20, 60}, {40, 80}}, answer{60, 60}},
	} {
		t.Run(name, func(t *testing.T) {
			sum, longest := Overlap(c.work)
			if diff := cmp.Diff(c.want, answer{sum, longest}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHeadroomIsComparedWhereNoRenewalLiesBetween(t *testing.T) {
	// One look at 500 ms, by which the lease ends at 3 s: between 2999 and
	// 3001 ms, since the look took 2 ms.
	look := []Look{{Asked: 499 * ms, Answered: 501 * ms, Holder: "a", Term: "1", Rest: 2500 * ms}}
	ends := func(before, after time.Duration) []Sample {
		return []Sample{{Span: Span{450 * ms, 451 * ms}, Ends: before}, {Span: Span{550 * ms, 551 * ms}, Ends: after}}
	}
	for name, c := range map[string]struct {
		looks   []Look
		samples []Sample
		want    []time.Duration
	}{
		"the same":                 {look, ends(3000*ms, 3000*ms), []time.Duration{0}},
		"within the look":          {look, ends(3001*ms, 3001*ms), []time.Duration{0}},
		"later":                    {look, ends(3031*ms, 3031*ms), []time.Duration{30 * ms}},
		"earlier":                  {look, ends(2979*ms, 2979*ms), []time.Duration{-20 * ms}},
		"earlier within a spread":  {[]Look{{Asked: 499 * ms, Answered: 501 * ms, Holder: "a", Rest: 2500 * ms, Spread: 25 * ms}}, ends(2979*ms, 2979*ms), []time.Duration{0}},
		"renewed in between":       {look, ends(2000*ms, 3000*ms), nil},
		"no end before":            {look, ends(0, 3000*ms), nil},
		"no end after":             {look, ends(3000*ms, 0), nil},
		"no sample after":          {look, ends(3000*ms, 3000*ms)[:1], nil},
		"no sample before":         {look, ends(3000*ms, 3000*ms)[1:], nil},
		"a look of another":        {[]Look{{Asked: 499 * ms, Answered: 501 * ms, Holder: "b", Rest: 2500 * ms}}, ends(3000*ms, 3000*ms), nil},
		"a look without a rest":    {[]Look{{Asked: 499 * ms, Answered: 501 * ms, Holder: "a"}}, ends(3000*ms, 3000*ms), nil},
		"a look that failed":       {[]Look{{Asked: 499 * ms, Answered: 501 * ms, Holder: "a", Rest: 2500 * ms, Failed: true}}, ends(3000*ms, 3000*ms), nil},
		"samples that are far off": {[]Look{{Asked: 9499 * ms, Answered: 9501 * ms, Holder: "a", Rest: 2500 * ms}}, append(ends(12000*ms, 12000*ms), Sample{Span: Span{9550 * ms, 9551 * ms}, Ends: 12000 * ms}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Headrooms(c.looks, Life{Holder: "a", Samples: c.samples})); diff != "" {
				t.Error(diff)
			}
		})
	}
	for name, c := range map[string]struct {
		differences []time.Duration
		want        Headroom
	}{
		"none":         {nil, Headroom{}},
		"both signs":   {[]time.Duration{-30, 10, 0, 20, -5}, Headroom{Compared: 5, Median: 10, Unsafe: 20, Safe: 30}},
		"always early": {[]time.Duration{-30, -10}, Headroom{Compared: 2, Median: 30, Safe: 30}},
	} {
		t.Run("sum of "+name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, NewHeadroom(c.differences)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCountersAreWithinWhatTheLogAllows(t *testing.T) {
	got := Differences([]Count{
		{"attempts", 5, 5, 5},
		{"acquired", 3, 2, 4},
		{"renewals", 8, 4, 4},
		{"ended", 1, 2, 2},
	})
	want := []string{"renewals is 8, the log has 4 to 4", "ended is 1, the log has 2 to 2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFalseLeadershipAtAStretch(t *testing.T) {
	truth := NewTruth(looks(part{holder: "a", term: "1", for_: time.Second}, part{for_: time.Second}, part{holder: "a", term: "2", for_: time.Second}), 100*ms)
	lies := func(from, lasted, stalled time.Duration) FalseLeader {
		return FalseLeader{Span{from, from + lasted}, lasted, stalled}
	}
	for name, c := range map[string]struct {
		samples []Sample
		stalls  []Span
		want    []FalseLeader
	}{
		"never":                       {join(samples(50*ms, 950*ms, leads), samples(1050*ms, 1950*ms, idle)), nil, nil},
		"after the end":               {join(samples(50*ms, 1350*ms, leads), samples(1350*ms, 1950*ms, idle)), nil, []FalseLeader{lies(1050*ms, 300*ms, 0)}},
		"twice":                       {join(samples(1050*ms, 1250*ms, leads), samples(1250*ms, 1350*ms, idle), samples(1350*ms, 1650*ms, leads), samples(1650*ms, 1950*ms, idle)), nil, []FalseLeader{lies(1050*ms, 200*ms, 0), lies(1350*ms, 300*ms, 0)}},
		"until it leads again":        {samples(1750*ms, 2950*ms, leads), nil, []FalseLeader{lies(1750*ms, 300*ms, 0)}},
		"a stall in it":               {join(samples(1050*ms, 1350*ms, leads), samples(1350*ms, 1950*ms, idle)), []Span{{1100 * ms, 1150 * ms}}, []FalseLeader{lies(1050*ms, 300*ms, 50*ms)}},
		"stalls that overlap":         {join(samples(1050*ms, 1350*ms, leads), samples(1350*ms, 1950*ms, idle)), []Span{{1120 * ms, 1180 * ms}, {1100 * ms, 1150 * ms}}, []FalseLeader{lies(1050*ms, 300*ms, 80*ms)}},
		"a stall just before":         {join(samples(1050*ms, 1350*ms, leads), samples(1350*ms, 1950*ms, idle)), []Span{{900 * ms, 1000 * ms}}, []FalseLeader{lies(1050*ms, 300*ms, 50*ms)}},
		"a stall long before":         {join(samples(1050*ms, 1350*ms, leads), samples(1350*ms, 1950*ms, idle)), []Span{{100 * ms, 900 * ms}}, []FalseLeader{lies(1050*ms, 300*ms, 0)}},
		"readings that take too long": {[]Sample{{Span: Span{1050 * ms, 1150 * ms}, Active: true}}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, FalseLeaders(truth, Life{Holder: "a", Samples: c.samples, Stalls: c.stalls}, every)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnAbsenceInAStallIsTheMachines(t *testing.T) {
	truth := NewTruth(looks(part{holder: "a", term: "1", for_: 2 * time.Second}), 100*ms)
	life := Life{"a", samples(50*ms, 450*ms, idle), []Span{{0, 2 * time.Second}}, []Span{{300 * ms, 320 * ms}}}
	got := Judge(truth, life, every, func(time.Duration) string { return "" })[""].Active
	if diff := cmp.Diff(Gauge{FalseAbsence: 400 * ms, KnownAbsence: 300 * ms, StalledAbsence: 100 * ms}, got); diff != "" {
		t.Error(diff)
	}
}
