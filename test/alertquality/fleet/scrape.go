package fleet

import (
	"strconv"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// server is one Prometheus.
type server struct {
	sim  *sim
	name string
	// down until: it restarts and stores nothing.
	down time.Duration
}

// target is a replica as one server sees it; lives that share a name share it.
type target struct {
	server  *server
	job     string
	name    string
	process *process // the present life
	dropped bool     // taken out of discovery
	lost    time.Duration
	phase   time.Duration
	at      int64 // of the present scrape
	series  map[identity]*Series
	// sample writes what the target exports; nil answers are a failed scrape.
	sample func(write func(identity, float64)) (ok bool)
	noUp   bool
}

// identity is a series within a target.
type identity struct {
	metric *catalog.Metric
	name   string
	values [3]string
	le     float64 // bucket, +1 so that 0 is none
}

// discover has the process scraped by every server.
func (s *sim) discover(p *process, job string) {
	for _, t := range s.targets {
		if t.name == p.name && t.job == job && !t.dropped {
			t.process = p // another life
		}
	}
	for _, server := range s.servers {
		if s.targetOf(server, p.name, job) != nil {
			continue
		}
		t := s.addTarget(server, job, p.name)
		t.process, t.sample, t.noUp = p, t.ofProcess, s.Push
		if s.Push {
			t.sample = t.ofCollector()
		}
	}
}

func (s *sim) targetOf(server *server, name, job string) *target {
	for _, t := range s.targets {
		if t.server == server && t.name == name && t.job == job && !t.dropped {
			return t
		}
	}
	return nil
}

func (s *sim) addTarget(server *server, job, name string) *target {
	t := &target{server: server, job: job, name: name, series: map[identity]*Series{}}
	t.phase = s.between(0, s.Scrape)
	s.targets = append(s.targets, t)
	s.after(t.phase, t.scrape)
	return t
}

// drop takes a name out of discovery; the next scrape marks its series stale.
func (s *sim) drop(name string) {
	for _, t := range s.targets {
		if t.name == name {
			t.dropped = true
		}
	}
}

// loseScrapes has the scrapes of a name fail, which keeps on exporting.
func (s *sim) loseScrapes(name string, d time.Duration) {
	for _, t := range s.targets {
		if t.name == name {
			t.lost = s.now + d
		}
	}
}

func (t *target) scrape() {
	s := t.server.sim
	if !t.dropped || s.now < t.server.down {
		s.after(s.Scrape, t.scrape)
	}
	if s.now < t.server.down {
		return
	}
	t.at = Epoch.Add(s.now).UnixMilli()
	up := 0.0
	if !t.dropped && s.now >= t.lost && t.sample(t.write) {
		up = 1
	}
	if !t.noUp && !t.dropped {
		t.write(identity{name: "up"}, up)
	}
	for _, series := range t.series {
		series.end(t.at)
	}
	if t.dropped {
		s.forget(t)
	}
}

// forget keeps the list of targets short; their series stay.
func (s *sim) forget(t *target) {
	for i, other := range s.targets {
		if other == t {
			s.targets = append(s.targets[:i], s.targets[i+1:]...)
			return
		}
	}
}

func (t *target) write(id identity, v float64) {
	series := t.series[id]
	if series == nil {
		name := id.name
		if id.metric != nil && name == "" {
			name = id.metric.Name()
		}
		if !t.server.sim.keep(name) {
			return
		}
		series = &Series{labels: t.labels(name, id)}
		t.series[id] = series
		t.server.sim.history.Series = append(t.server.sim.history.Series, series)
	}
	series.add(t.at, v)
}

func (t *target) labels(name string, id identity) labels.Labels {
	b := labels.NewBuilder(labels.FromStrings("__name__", name, "job", t.job, "instance", t.name))
	if t.server.name != "" {
		b.Set("prometheus_replica", t.server.name)
	}
	if id.metric != nil {
		if id.metric.PerLock() {
			b.Set(catalog.LockName.Name(), Lock)
		}
		for i := range id.metric.NumLabels() {
			b.Set(id.metric.LabelAt(i).Name(), id.values[i])
		}
	}
	if id.le != 0 {
		b.Set("le", strconv.FormatFloat(id.le-1, 'g', -1, 64))
	}
	return b.Labels()
}

// MasterStatus is what client-go would export beside; see process.naive.
const MasterStatus = "leader_election_master_status"

// ofProcess asks the process.
func (t *target) ofProcess(write func(identity, float64)) bool {
	p := t.process
	if p == nil || !p.awake() {
		return false
	}
	p.collect(t.server.sim.keep, write)
	return true
}

// collect writes what the middleware exports now.
func (p *process) collect(keep func(string) bool, write func(identity, float64)) {
	p.m.Collect(func(sample *instrument.Sample) {
		id := identity{metric: sample.Metric, values: sample.Values}
		if sample.Histogram == nil {
			if keep(sample.Metric.Name()) {
				write(id, sample.Value)
			}
			return
		}
		writeHistogram(sample, keep, write)
	})
	write(identity{name: MasterStatus}, p.naive)
}

func writeHistogram(sample *instrument.Sample, keep func(string) bool, write func(identity, float64)) {
	m, h := sample.Metric, sample.Histogram
	id := identity{metric: m, values: sample.Values}
	if id.name = m.Count(); keep(id.name) {
		write(id, float64(h.Count()))
	}
	if id.name = m.Sum(); keep(id.name) {
		write(id, h.Sum)
	}
	if id.name = m.Bucket(); !keep(id.name) {
		return
	}
	var upTo uint64
	for i, bound := range m.Bounds() {
		upTo += h.Counts[i]
		id.le = bound + 1
		write(id, float64(upTo))
	}
}

// expiry is how long a collector hands out what it heard last.
const expiry = 5 * time.Minute

// ofCollector answers with what the process sent last.
func (t *target) ofCollector() func(write func(identity, float64)) bool {
	type pair struct {
		id identity
		v  float64
	}
	s := t.server.sim
	var heard []pair
	var at time.Duration = -expiry
	var push func()
	push = func() {
		if p := t.process; p != nil && p.awake() && s.now >= t.lost {
			heard, at = heard[:0], s.now
			p.collect(s.keep, func(id identity, v float64) { heard = append(heard, pair{id, v}) })
		}
		if !t.dropped {
			s.after(s.Scrape, push)
		}
	}
	s.after(s.between(0, s.Scrape), push)
	return func(write func(identity, float64)) bool {
		if s.now-at >= expiry {
			return false
		}
		for _, p := range heard {
			write(p.id, p.v)
		}
		return true
	}
}

// startStranger starts a replica of the job that knows no lock and is down
// most of the time.
func (s *sim) startStranger() {
	for _, server := range s.servers {
		t := s.addTarget(server, Job, "stranger:9090")
		t.sample = func(func(identity, float64)) bool { return s.now%(5*time.Minute) < time.Minute }
	}
}

// RenewTime is when the record was renewed, in whole seconds, as
// kube-state-metrics shows it.
const RenewTime = "kube_lease_renew_time"

// observeBackend has what kube-state-metrics would show scraped too.
func (s *sim) observeBackend() {
	if s.Every > 0 {
		return
	}
	for _, server := range s.servers {
		t := s.addTarget(server, "kube-state-metrics", "ksm:8080")
		t.sample = func(write func(identity, float64)) bool {
			write(identity{name: RenewTime}, float64(Epoch.Add(s.backend.renewed).Unix()))
			return true
		}
	}
}
