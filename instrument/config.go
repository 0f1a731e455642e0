package instrument

import (
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/redact"
)

// DefaultMaxLabels is the cap on distinct lock labels of one middleware.
const DefaultMaxLabels = 256

// DefaultReleaseTimeout bounds the release at the end of Run.
const DefaultReleaseTimeout = 10 * time.Second

// Redactor turns a lock name into its label. *redact.Policy is one; it must
// be safe for concurrent use. A Redactor that panics gives the label
// "redacted", and the fault is counted. A label that is not Shared stands for
// one name; given to two, it is a collision and ends in "*" from then on.
type Redactor interface {
	Label(name string) redact.Label
	Info() redact.Info
}

// Option configures a Middleware. Nil options are ignored.
type Option func(*config)

type config struct {
	redactor       Redactor
	clock          Clock
	logger         *slog.Logger
	tracer         trace.TracerProvider
	maxLabels      int
	releaseTimeout time.Duration
	left           map[catalog.Group]bool
}

// WithRedactor sets how lock names become labels; nil and the default are
// redact.Constant(), under which all locks share the label "redacted".
func WithRedactor(r Redactor) Option { return func(c *config) { c.redactor = r } }

// WithClock replaces the clock, for tests. Now must never go backwards. A
// clock that panics is replaced by the system's for that reading, one that
// blocks for good.
func WithClock(clock Clock) Option { return func(c *config) { c.clock = clock } }

// WithLogger logs terms gained, lost and released, failed renewals and
// overruns, with the label and without error texts. Records are written from
// a goroutine of their own and dropped when the handler is slow.
func WithLogger(l *slog.Logger) Option { return func(c *config) { c.logger = l } }

// WithTracerProvider makes spans of attempts, guarded bodies and renewals.
func WithTracerProvider(p trace.TracerProvider) Option { return func(c *config) { c.tracer = p } }

// WithMaxLabels caps the distinct lock labels, DefaultMaxLabels if not set;
// names beyond it share the label "overflow" and are counted.
func WithMaxLabels(n int) Option { return func(c *config) { c.maxLabels = n } }

// WithReleaseTimeout bounds the release at the end of Run, which goes on when
// the caller's context is done.
func WithReleaseTimeout(d time.Duration) Option { return func(c *config) { c.releaseTimeout = d } }

// WithoutSeries leaves out groups of series. The core group stays: alerts
// rest on it.
func WithoutSeries(groups ...catalog.Group) Option {
	return func(c *config) {
		for _, g := range groups {
			c.left[g] = true
		}
	}
}

func newConfig(opts []Option) (config, error) {
	c := config{maxLabels: DefaultMaxLabels, releaseTimeout: DefaultReleaseTimeout, left: map[catalog.Group]bool{}}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	if p, ok := c.redactor.(*redact.Policy); c.redactor == nil || ok && p == nil {
		c.redactor = redact.Constant()
	}
	if v, ok := c.redactor.(interface{ Err() error }); ok {
		if err := v.Err(); err != nil {
			return c, err
		}
	}
	if c.maxLabels < 1 {
		return c, fmt.Errorf("leaderscope: WithMaxLabels(%d), want at least 1", c.maxLabels)
	}
	if c.releaseTimeout <= 0 {
		return c, fmt.Errorf("leaderscope: WithReleaseTimeout(%v), want more than 0", c.releaseTimeout)
	}
	if c.left[catalog.GroupCore] {
		return c, fmt.Errorf("leaderscope: WithoutSeries(%q): this group cannot be left out", catalog.GroupCore)
	}
	return c, nil
}

// ElectionOption configures the handle of one lock. Nil options are ignored,
// and so are values that make no sense: a length, an interval or a number of
// leaders below one.
type ElectionOption func(*settings)

// settings are what the options of a handle say. Handles with the same share
// them; they do not change.
type settings struct {
	use
	lease       time.Duration
	every       time.Duration
	maxLeaders  int
	hidden      bool
	classifiers []Classifier
}

func newSettings(label redact.Label, opts []ElectionOption) *settings {
	s := &settings{use: use{family: label.Family}, maxLeaders: 1}
	for _, o := range opts {
		if o != nil {
			o(s)
		}
	}
	return s
}

// same reports whether two say the same, as far as can be told: functions
// cannot be compared.
func (s *settings) same(other *settings) bool {
	return s.use == other.use && s.lease == other.lease && s.every == other.every && s.maxLeaders == other.maxLeaders &&
		s.hidden == other.hidden && s.classifiers == nil && other.classifiers == nil
}

// Hold says that a win is kept while the process lives: campaign and hold.
// Without it a lock is taken for one run and given back.
func Hold() ElectionOption { return func(s *settings) { s.mode = catalog.ModeHold } }

// ExpectEvery declares the time between acquisitions of a periodic job.
func ExpectEvery(d time.Duration) ElectionOption {
	return func(s *settings) { s.every = max(d, 0) }
}

// LeaseDuration declares the length of the lease. Where the lease does not
// know its own end, the end is the start of the request that won or renewed
// it plus this length; with Hold only if its renewals can be seen, since a
// held leadership is renewed by somebody. Acquirers that wait for their turn
// should return a lease that is an Expirer: the start of the winning request
// is then known to them alone.
func LeaseDuration(d time.Duration) ElectionOption {
	return func(s *settings) { s.lease = max(d, 0) }
}

// HiddenRenewals says that the library renews the lease where nobody can see
// it: renewal series are left out, and a declared LeaseDuration gives no end.
func HiddenRenewals() ElectionOption { return func(s *settings) { s.hidden = true } }

// Backend names the backend, such as etcd, on leader_elector_info.
func Backend(name string) ElectionOption {
	return func(s *settings) { s.backend = redact.Valid(name) }
}

// Family names the kind of lock on leader_elector_info, readable where the
// label is a hash. It must not carry what the label hides.
func Family(name string) ElectionOption {
	return func(s *settings) { s.family = redact.Valid(name) }
}

// MaxLeaders is the number of leaders that the elector allows at once; 1 if
// not set.
func MaxLeaders(n int) ElectionOption { return func(s *settings) { s.maxLeaders = max(n, 1) } }

// Classify adds classifiers of the library's errors; the first that has an
// opinion decides.
func Classify(c ...Classifier) ElectionOption {
	return func(s *settings) {
		for _, classify := range c {
			if classify != nil {
				s.classifiers = append(s.classifiers, classify)
			}
		}
	}
}
