package instrument

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/redact"
)

// Middleware holds the state of all elections of a process. It is safe for
// concurrent use; one per process is enough.
type Middleware struct {
	config
	epoch  time.Time
	user   *userClock   // nil without WithClock
	spans  trace.Tracer // nil without WithTracerProvider
	logs   logQueue
	faults atomic.Uint64

	digests digester

	mu         sync.Mutex
	series     map[string]*series
	attached   []*attachment
	families   words
	backends   words
	latest     *settings
	overflows  uint64
	collisions uint64
	closed     bool
}

// New makes a Middleware. It fails on options that make no sense and on a
// redaction policy with malformed rules.
func New(opts ...Option) (*Middleware, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	m := &Middleware{config: c, digests: newDigester(), series: map[string]*series{}}
	if c.clock != nil {
		m.user = &userClock{clock: c.clock, fault: m.fault}
	}
	m.epoch = m.wall()
	m.logs = logQueue{logger: c.logger, fault: m.fault}
	if c.tracer != nil {
		m.spans = newTracer(m, c.tracer)
	}
	return m, nil
}

// Election is the handle of the lock of that name. Its series exist from now
// on, at zero. Several handles of one lock add up; Forget ends one. The name
// is turned into its label here and not kept.
func (m *Middleware) Election(name string, opts ...ElectionOption) *Election {
	label := m.label(name)
	set := newSettings(label, opts)
	created := m.wall()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.join(nil, m.place(label, m.digests.of(name), created), m.shared(set))
}

// shared bounds the open labels of new settings and returns those of the
// handle before if they are the same: handles are mostly made in rows. The
// caller holds mu.
func (m *Middleware) shared(set *settings) *settings {
	set.family, set.backend = m.families.bound(set.family, m.maxLabels), m.backends.bound(set.backend, m.maxLabels)
	if m.latest == nil || !m.latest.same(set) {
		m.latest = set
	}
	return m.latest
}

// join makes a handle of a series. The caller holds mu.
func (m *Middleware) join(of *Elections, s *series, set *settings) *Election {
	e := &Election{m: m, s: s, of: of, set: set}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.closed = m.closed; e.closed {
		e.flight.close()
		return e
	}
	e.next, s.handles = s.handles, e
	s.leaseSeen = s.leaseSeen || set.lease > 0
	return e
}

// forget takes a handle's share away, and the series with the last handle.
func (m *Middleware) forget(e *Election) {
	m.mu.Lock()
	s := e.s
	s.mu.Lock()
	if e.closed {
		s.mu.Unlock()
		m.mu.Unlock()
		return
	}
	e.abandon(m.now())
	e.closed = true
	s.drop(e)
	gone := s.handles == nil && m.series[s.label] == s
	if gone {
		delete(m.series, s.label)
	}
	m.mu.Unlock()
	observers := s.watchers()
	s.unlock(context.Background())
	if e.of != nil {
		e.of.drop(e)
	}
	if gone {
		for _, o := range observers {
			m.closeObserver(o)
		}
	}
}

// Close ends all telemetry: series go, and every later call passes straight
// through to the elector. Closing again does nothing. It returns nil.
func (m *Middleware) Close() error {
	m.mu.Lock()
	m.closed = true
	var open []*Election
	for _, s := range m.series {
		s.mu.Lock()
		for e := s.handles; e != nil; e = e.next {
			open = append(open, e)
		}
		s.mu.Unlock()
	}
	m.mu.Unlock()
	for _, e := range open {
		m.forget(e)
	}
	return nil
}

// Faults counts panics of redactors, loggers, tracers, clocks and classifiers
// that were kept from the elector, and log records that were dropped.
func (m *Middleware) Faults() uint64 { return m.faults.Load() }

func (m *Middleware) fault() { m.faults.Add(1) }

// contain is deferred around foreign code: a panic is counted and undone.
func (m *Middleware) contain(undo func()) {
	if recover() != nil {
		m.fault()
		undo()
	}
}

// label asks the redactor. Whatever it answers is made valid, since one bad
// label takes a whole scrape down.
func (m *Middleware) label(name string) (label redact.Label) {
	defer m.contain(func() { label = redact.Label{Text: redact.Redacted, Shared: true} })
	label = m.redactor.Label(name)
	label.Text, label.Family = redact.Valid(label.Text), redact.Valid(label.Family)
	if label.Text == "" {
		label.Text = redact.Redacted
	}
	label.Shared = label.Shared || label.Text == redact.Redacted || label.Text == redact.Overflow || strings.Contains(label.Text, redact.Wildcard)
	return label
}

// info describes the redactor, its mode from the closed set.
func (m *Middleware) info() (info redact.Info) {
	defer m.contain(func() { info = redact.Info{Mode: customMode} })
	info = m.redactor.Info()
	modes, _ := catalog.RedactionInfo.Label("mode")
	if !slices.Contains(modes.Values, info.Mode) {
		info.Mode = customMode
	}
	info.KeyID, info.KeyCheck = redact.Valid(info.KeyID), redact.Valid(info.KeyCheck)
	return info
}

const customMode = "custom"

// now reads the monotonic clock, once for each edge.
func (m *Middleware) now() instant {
	if m.user == nil {
		return instant(time.Since(m.epoch)) + 1
	}
	return m.at(m.wall())
}

// wall reads the clock with its date.
func (m *Middleware) wall() time.Time {
	if m.user == nil {
		return time.Now()
	}
	return m.user.now()
}

// at puts a reading of the clock on the monotonic scale.
func (m *Middleware) at(t time.Time) instant { return instant(t.Sub(m.epoch)) + 1 }

// instantOf puts a time on the monotonic clock; zero stays unknown.
func (m *Middleware) instantOf(t time.Time) instant {
	if t.IsZero() {
		return 0
	}
	wall := m.wall()
	return m.at(wall).add(t.Sub(wall))
}
