package main

import (
	"math"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// scrape is the time between two samples.
const scrape = 30 * time.Second

// fleet is a service whose replicas share locks. Four of five locks are held,
// the fifth is taken for a run every other minute. A few are in trouble.
type fleet struct {
	locks, replicas int
	span            time.Duration
	// reads says which metrics are worth having.
	reads func(m *catalog.Metric) bool
}

// point is a moment of one lock on one replica.
type point struct {
	lock, replica, replicas int
	// n counts scrapes, at is its Unix time.
	n  int
	at int64
}

func (p point) hold() bool { return p.lock%5 != 0 }

// handover is how many scrapes a leader stays where leaders move.
const handover = 40

// leads moves the leader of some locks every 20 minutes, and has two leaders
// of others.
func (p point) leads() bool {
	if p.lock%100 == 9 && p.replica < 2 {
		return true
	}
	leader := p.lock
	if p.lock%50 == 1 {
		leader += p.n / handover
	}
	if leader%p.replicas != p.replica {
		return false
	}
	return p.hold() || p.n%4 < 2
}

// events are the runs, or the renewals, so far.
func (p point) events() float64 {
	if p.lock%p.replicas != p.replica {
		return 0
	}
	if p.hold() {
		return 6 * float64(p.n)
	}
	return float64(p.n / 4)
}

// has reports whether a replica exports a metric of the lock by then. A
// histogram appears with its first observation, and some gauges with the first
// term; waits are observed by losers too.
func (p point) has(m *catalog.Metric) bool {
	switch m {
	case catalog.LastAcquired, catalog.LastEnded, catalog.FencingToken, catalog.FencingTokenRegressions:
		return p.won() > 0
	case catalog.AcquireDuration:
		return p.n > 0
	}
	return m.Kind() != catalog.Histogram || p.events() > 0
}

// series is one series of the fleet and its values; NaN where it is absent.
type series struct {
	labels labels.Labels
	value  func(p point) float64
	point  point
}

// won are the terms gained so far: one at the beginning, and with each move.
func (p point) won() float64 {
	if !p.hold() {
		return p.events()
	}
	n := 0
	for move := range p.n/handover + 1 {
		before := point{lock: p.lock, replica: p.replica, replicas: p.replicas, n: (move - 1) * handover}
		now := before
		now.n = move * handover
		if now.leads() && (move == 0 || !before.leads()) {
			n++
		}
	}
	return float64(n)
}

// all lists the series of the fleet.
func (f fleet) all() []series {
	var out []series
	for replica := range f.replicas {
		instance := "replica-" + strconv.Itoa(replica) + ":8080"
		up := labels.FromStrings(model.MetricNameLabel, "up", "job", "fleet", "namespace", "shop", "instance", instance)
		out = append(out, series{labels: up, value: constant(1)})
		for _, m := range catalog.All() {
			if !f.reads(m) {
				continue
			}
			locks := f.locks
			if !m.PerLock() {
				locks = 1
			}
			for lock := range locks {
				b := labels.NewBuilder(up)
				if m.PerLock() {
					b.Set(catalog.LockName.Name(), "tenant-"+strconv.Itoa(lock)+"/orders")
				}
				out = append(out, of(m, b.Labels(), point{lock: lock, replica: replica, replicas: f.replicas})...)
			}
		}
	}
	return out
}

// of are the series of a metric of one lock on one replica.
func of(m *catalog.Metric, target labels.Labels, p point) []series {
	sets := []labels.Labels{target}
	for _, l := range m.Labels() {
		values := l.Values()
		switch {
		case m == catalog.ElectorInfo && l.Values() != nil:
			values = []string{catalog.ModeRun.String()}
			if p.hold() {
				values = []string{catalog.ModeHold.String()}
			}
		case values == nil || !m.PerLock():
			values = []string{"x"}
		}
		var next []labels.Labels
		for _, set := range sets {
			for _, v := range values {
				next = append(next, with(set, l.Name(), v))
			}
		}
		sets = next
	}
	var out []series
	add := func(name string, set labels.Labels, value func(point) float64) {
		out = append(out, series{labels: with(set, model.MetricNameLabel, name), value: whereExported(m, value), point: p})
	}
	for _, set := range sets {
		if m.Kind() != catalog.Histogram {
			add(m.Name(), set, valueOf(m, set))
			continue
		}
		for i, bound := range append(m.Bounds()[:len(m.Bounds()):len(m.Bounds())], math.Inf(1)) {
			add(m.Bucket(), with(set, labels.BucketLabel, strconv.FormatFloat(bound, 'g', -1, 64)), bucket(i, len(m.Bounds())))
		}
		add(m.Count(), set, point.events)
		add(m.Sum(), set, point.events)
	}
	return out
}

func whereExported(m *catalog.Metric, value func(point) float64) func(point) float64 {
	return func(p point) float64 {
		if !p.has(m) {
			return math.NaN()
		}
		return value(p)
	}
}

func with(set labels.Labels, name, value string) labels.Labels {
	return labels.NewBuilder(set).Set(name, value).Labels()
}

// bucket puts the observations of a lock into one bucket, and those of some
// locks now and then near the top.
func bucket(i, bounds int) func(point) float64 {
	return func(p point) float64 {
		usual := p.lock % (bounds - 4)
		switch {
		case i < usual:
			return 0
		case p.lock%100 == 3 && i < bounds-2:
			return p.events() - float64(p.n/30)
		}
		return p.events()
	}
}

func constant(v float64) func(point) float64 { return func(point) float64 { return v } }

// valueOf is what a metric says about a moment.
func valueOf(m *catalog.Metric, set labels.Labels) func(point) float64 {
	leading := func(v func(point) float64) func(point) float64 {
		return func(p point) float64 {
			if !p.leads() {
				return math.NaN()
			}
			return v(p)
		}
	}
	zeroOrOne := func(p point) float64 {
		if p.leads() {
			return 1
		}
		return 0
	}
	switch m {
	case catalog.Active, catalog.Running:
		return zeroOrOne
	case catalog.LeaseHeadroom:
		return leading(func(p point) float64 { return 10 - float64(p.n%3)*2 })
	case catalog.LeaseExpiry:
		return leading(func(p point) float64 { return float64(p.at + 10) })
	case catalog.LeaseDuration:
		return constant(15)
	case catalog.LastAcquired:
		return func(p point) float64 { return float64(p.at - int64(p.n%4)*30) }
	case catalog.ExpectedInterval:
		return func(p point) float64 {
			if p.hold() {
				return math.NaN()
			}
			return 120
		}
	case catalog.PendingAge:
		return func(p point) float64 {
			if !p.hold() {
				return 0
			}
			return (1 - zeroOrOne(p)) * float64(30*p.n)
		}
	case catalog.NotAcquired:
		return failed(set.Get("reason"))
	case catalog.Acquired:
		return point.won
	case catalog.Attempts, catalog.Renewals, catalog.FencingToken:
		return point.events
	}
	if m.Kind() == catalog.Counter {
		return func(p point) float64 { return float64(p.lock%7) * float64(p.n/20) * oneIn(p.lock, 40) }
	}
	return constant(1)
}

// failed are attempts by reason: most locks are contended, some meet errors.
func failed(reason string) func(point) float64 {
	return func(p point) float64 {
		switch reason {
		case catalog.Contended.String():
			return float64(p.n)
		case catalog.BackendError.String():
			return float64(p.n) * oneIn(p.lock, 100)
		}
		return 0
	}
}

// oneIn is 1 for a lock in so many.
func oneIn(lock, many int) float64 {
	if lock%many == 7 {
		return 1
	}
	return 0
}
