package instrument

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/leaderscope/leaderscope/instrument/internal/lock"
	"github.com/leaderscope/leaderscope/instrument/internal/registry"
)

// Middleware holds the state of all elections of a process. It is safe for
// concurrent use; one per process is enough. A nil Middleware returns nil
// elections, which pass everything through and record nothing: this lets a
// library make observability optional.
type Middleware struct {
	config
	epoch  time.Time
	user   *userClock   // nil without WithClock
	spans  trace.Tracer // nil without WithTracerProvider
	logs   logQueue
	faults atomic.Uint64
	locks  *registry.Registry

	holders maphash.Seed // for telling holders apart without keeping them

	latest         atomic.Pointer[settings] // of the handle made last
	redactedNotice sync.Once
}

// New makes a Middleware. It returns an error for invalid options and for a
// redaction policy with malformed rules.
func New(opts ...Option) (*Middleware, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	m := &Middleware{config: c, holders: maphash.MakeSeed()}
	if c.clock != nil {
		m.user = &userClock{clock: c.clock, fault: m.fault}
	}
	m.epoch = m.wall()
	m.logs = newLogQueue(c.logger, m.fault)
	m.locks = registry.New(c.maxLabels, registry.Hooks{
		Moment: m.moment, Overflowed: m.overflowed, Collided: m.collided, Fault: m.fault, Overran: overran,
	})
	if c.tracer != nil {
		m.spans = newTracer(m, c.tracer)
	}
	return m, nil
}

// literalElseUseNamed is the type of names written in the program. Only an
// untyped constant converts to it; for a name in a variable use Named.
type literalElseUseNamed string

// Election is the handle of the lock of that name, which is a constant of the
// program: Election("reconciler"). A name in a variable does not compile; use
// Named for names made at run time. Without WithRedactor such a name is its
// own label.
//
// The first call for a name makes the handle, whose series exist from then
// on. Later calls of Election or Named return the same handle. If their options
// differ, the first ones remain in effect, and the difference counts as a fault
// and is logged once.
func (m *Middleware) Election(name literalElseUseNamed, opts ...ElectionOption) *Election {
	if m == nil {
		return nil
	}
	l, d := m.locks.Find(string(name))
	if l != nil {
		return m.known(l, opts)
	}
	return m.enter(d, m.literalLabel(string(name)), opts)
}

// Named is the handle of the lock of that name, made at run time from a
// tenant, a user or a configuration. The policy of WithRedactor turns it into
// a label; without a policy all such names share the label "redacted", which
// per-lock alerts exclude. The name is not stored.
//
// One name has one handle, as in Election; looking it up again costs as much
// as a map access. Of names that share a label only those with something open, or
// whose handle the program keeps, take memory.
func (m *Middleware) Named(name string, opts ...ElectionOption) *Election {
	if m == nil {
		return nil
	}
	l, d := m.locks.Find(name)
	if l != nil {
		return m.known(l, opts)
	}
	label := m.label(name)
	m.noticeRedacted(label)
	return m.enter(d, label, opts)
}

func (m *Middleware) known(l *registry.Lock, opts []ElectionOption) *Election {
	e := l.Owner.(*Election)
	for _, o := range opts {
		if o != nil { // options that are ignored say nothing
			e.compare(opts)
			break
		}
	}
	return e
}

// Close ends all telemetry: the series end, and later calls pass through to the
// elector without being recorded. Calling Close again does nothing. It returns nil.
func (m *Middleware) Close() error {
	if m == nil {
		return nil
	}
	m.locks.Close(func(l *registry.Lock) { l.Owner.(*Election).Forget() })
	return nil
}

// MaxLabels is the cap on distinct lock labels, for exporters that need a
// limit of their own. It is 0 for a nil Middleware.
func (m *Middleware) MaxLabels() int {
	if m == nil {
		return 0
	}
	return m.maxLabels
}

// Faults counts what leader_telemetry_faults_total counts: panics of
// redactors, loggers, tracers, clocks, classifiers, exporters and optional
// methods of leases, which never reach the elector; dropped log records; and
// options that contradict earlier ones.
func (m *Middleware) Faults() uint64 {
	if m == nil {
		return 0
	}
	return m.faults.Load()
}

func (m *Middleware) fault() { m.faults.Add(1) }

// contain is deferred around foreign code: a panic is counted and undone.
func (m *Middleware) contain(undo func()) {
	if recover() != nil {
		m.fault()
		undo()
	}
}

// now reads the monotonic clock.
func (m *Middleware) now() lock.Instant {
	if m.user == nil {
		return lock.Origin + lock.Instant(time.Since(m.epoch))
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

// moment reads both at once.
func (m *Middleware) moment() lock.Moment {
	wall := m.wall()
	return lock.Moment{Now: m.at(wall), Wall: wall}
}

// at puts a reading of the clock on the monotonic scale.
func (m *Middleware) at(t time.Time) lock.Instant { return lock.Origin.Add(t.Sub(m.epoch)) }

// endOf is the end of a lease; a time that is no instant, and not zero, says
// that there is none.
func (m *Middleware) endOf(t time.Time) (end lock.Instant, endless bool) {
	end = m.instantOf(t)
	return end, end == 0 && !t.IsZero()
}

// instantOf puts a time on the monotonic clock. The zero time and one beyond
// the horizon are no instant: "never" is written as a time far ahead, which
// wraps into the far past where it overflows.
func (m *Middleware) instantOf(t time.Time) lock.Instant {
	if t.IsZero() {
		return 0
	}
	wall := m.wall()
	distance := t.Sub(wall)
	if distance.Abs() > lock.Horizon {
		return 0
	}
	return max(m.at(wall).Add(distance), 1)
}

// pastOf is instantOf for the beginning of what has happened: a time that is
// still to come, of a clock that was set in between, is unknown.
func (m *Middleware) pastOf(t time.Time) lock.Instant {
	at := m.instantOf(t)
	if at > m.now() {
		return 0
	}
	return at
}
