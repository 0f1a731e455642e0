package instrument_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

func TestTheLeastThatAnOptionTakesAndTheDefaults(t *testing.T) {
	for name, c := range map[string]struct {
		opt    instrument.Option
		labels int
		err    string
	}{
		"the default":             {nil, 256, ""},
		"one label":               {instrument.WithMaxLabels(1), 1, ""},
		"no label":                {instrument.WithMaxLabels(0), 0, "WithMaxLabels(0), want at least 1"},
		"the shortest release":    {instrument.WithReleaseTimeout(1), 256, ""},
		"no time for a release":   {instrument.WithReleaseTimeout(0), 0, "WithReleaseTimeout(0s), want more than 0"},
		"series of another group": {instrument.WithoutSeries(catalog.GroupLease, catalog.GroupFencing), 256, ""},
		"core series":             {instrument.WithoutSeries(catalog.GroupLease, catalog.GroupCore), 0, `WithoutSeries("core"): this group cannot be left out`},
		"a policy with an error":  {instrument.WithRedactor(redact.Hash(nil, "k1")), 0, "the key has 0 bytes"},
		"no policy":               {instrument.WithRedactor(nil), 256, ""},
		"a nil policy":            {instrument.WithRedactor((*redact.Policy)(nil)), 256, ""},
	} {
		m, err := instrument.New(c.opt)
		if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) || m.MaxLabels() != c.labels {
			t.Errorf("%s: %d labels, error %v, want %d and %q", name, m.MaxLabels(), err, c.labels, c.err)
		}
	}
}

func TestAClosedMiddlewareHasNoSeriesAtAll(t *testing.T) {
	m := newMiddleware(t)
	_, _ = m.Election("x").Acquire(context.Background(), electtest.Fails(errBackend))
	seen := 0
	m.Collect(func(*instrument.Sample) { seen++ })
	if err := m.Close(); err != nil || seen == 0 {
		t.Errorf("%d series before Close: %v", seen, err)
	}
	m.Collect(func(s *instrument.Sample) { t.Errorf("%s after Close", s.Metric.Name()) })
}

func TestARunHasTimeForItsReleaseWhateverBecameOfTheCaller(t *testing.T) {
	for name, c := range map[string]struct {
		opts []instrument.Option
		want time.Duration
	}{
		"by default": {nil, 10 * s}, "as set": {[]instrument.Option{instrument.WithReleaseTimeout(3 * s)}, 3 * s},
	} {
		bubble(t, name, func(t *testing.T) {
			m := newMiddleware(t, c.opts...)
			ctx, cancel := context.WithCancel(context.Background())
			start := time.Now()
			err := m.Election("x").Run(ctx, electtest.Wins(instrument.NewLease(func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			})), func(context.Context, *instrument.Term) error { cancel(); return nil })
			if err != context.DeadlineExceeded || time.Since(start) != c.want {
				t.Errorf("the release ends by %v after %v", err, time.Since(start))
			}
		})
	}
}

// blocking is a clock that answers as often as it is told, and then waits.
type blocking struct {
	answers int
	free    chan struct{}
}

func (c *blocking) Now() time.Time {
	if c.answers == 0 {
		<-c.free
	}
	c.answers--
	return time.Now()
}

func TestABlockedClockCostsASecondOnce(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		clock := &blocking{answers: 1, free: make(chan struct{})}
		m := newMiddleware(t, instrument.WithClock(clock))
		start := time.Now()
		for range 3 {
			release(t, acquire(t, m.Election("x"), electtest.NewElector()))
		}
		if took := time.Since(start); took != s || m.Faults() != 1 {
			t.Errorf("it took %v, %d faults", took, m.Faults())
		}
		close(clock.free)
	})
}
