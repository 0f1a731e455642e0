package instrument

import (
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/redact"
)

// DefaultMaxLabels is the cap on distinct lock labels of one middleware.
const DefaultMaxLabels = 256

// DefaultReleaseTimeout bounds the release at the end of Run.
const DefaultReleaseTimeout = 10 * time.Second

// Redactor turns a lock name into its label. *redact.Policy is one. It must
// be safe for concurrent use. If it panics, the label is "redacted", and the
// fault is counted. A label that is not Shared stands for one name; if two names
// get it, this is a collision, and the label ends in "*" from then on. A Shared
// label ends in "*" unless its text already does.
type Redactor interface {
	Label(name string) redact.Label
	Info() redact.Info
}

// LiteralRedactor is a Redactor that treats constants of the program separately,
// as *redact.Policy does. A Redactor without this method treats both kinds of
// names the same.
type LiteralRedactor interface {
	Redactor
	Literal(name string) redact.Label
}

// Option configures a Middleware. Nil options are ignored.
type Option func(*config)

type config struct {
	redactor       Redactor
	byDefault      bool // no redactor was chosen
	clock          Clock
	logger         *slog.Logger
	tracer         trace.TracerProvider
	maxLabels      int
	releaseTimeout time.Duration
	excluded       map[catalog.Group]bool
}

// WithRedactor sets how lock names become labels. Nil and the default are
// redact.Constant(redact.Literals()): constants of the program are their own
// labels, and names made at run time share the label "redacted".
func WithRedactor(r Redactor) Option { return func(c *config) { c.redactor = r } }

// WithClock replaces the clock, for tests. Now must never decrease. If the clock
// panics, the system's clock is used for that reading; if it blocks, from then on.
func WithClock(clock Clock) Option { return func(c *config) { c.clock = clock } }

// WithLogger logs terms gained, lost and released, failed renewals and
// overruns, with the label and without error texts. A term that ends or overruns
// by itself is logged at the next call or collection. Records are written from a
// separate goroutine and dropped if the handler is slow.
//
// Without it only notices are logged, to slog.Default: labels are shared or
// exhausted, an error is not classified, options contradict each other. A logger
// with slog.DiscardHandler disables these too.
func WithLogger(l *slog.Logger) Option { return func(c *config) { c.logger = l } }

// WithTracerProvider makes spans of attempts, guarded bodies and renewals.
func WithTracerProvider(p trace.TracerProvider) Option { return func(c *config) { c.tracer = p } }

// WithMaxLabels limits the number of distinct lock labels, by default to
// DefaultMaxLabels; further names share the label "overflow" and are counted.
// After a label is forgotten, an overflow name gets its own label at its next
// Election or Named call, if it has no open term or attempt then.
func WithMaxLabels(n int) Option { return func(c *config) { c.maxLabels = n } }

// WithReleaseTimeout bounds the release at the end of Run, which continues
// when the caller's context is done.
func WithReleaseTimeout(d time.Duration) Option { return func(c *config) { c.releaseTimeout = d } }

// WithoutSeries excludes groups of series. The core group cannot be excluded,
// because alerts need it: New returns an error for it, and for an unknown group.
func WithoutSeries(groups ...catalog.Group) Option {
	return func(c *config) {
		for _, g := range groups {
			c.excluded[g] = true
		}
	}
}

func newConfig(opts []Option) (config, error) {
	c := config{maxLabels: DefaultMaxLabels, releaseTimeout: DefaultReleaseTimeout, excluded: map[catalog.Group]bool{}}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	if isNil(c.redactor) {
		c.redactor, c.byDefault = redact.Constant(redact.Literals()), true
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
	for _, g := range slices.Sorted(maps.Keys(c.excluded)) {
		if !slices.ContainsFunc(catalog.All(), func(m *catalog.Metric) bool { return m.Group() == g }) {
			return c, fmt.Errorf("leaderscope: WithoutSeries(%q): unknown group; pass a constant of package catalog, such as catalog.GroupLease", g)
		}
	}
	if c.excluded[catalog.GroupCore] {
		return c, fmt.Errorf("leaderscope: WithoutSeries(%q): this group cannot be left out", catalog.GroupCore)
	}
	return c, nil
}

// isNil reports a nil interface and a nil pointer within one.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}
