package prom

import (
	"fmt"
	"maps"

	"github.com/prometheus/client_golang/prometheus"
)

// Histograms is the form in which histograms are exposed.
type Histograms int

// The forms of histograms.
const (
	// Classic histograms have the catalogue's buckets, one series each. Rules
	// and dashboards work with them everywhere.
	Classic Histograms = iota
	// Native histograms are one series each, with exponential buckets. They
	// travel only by protobuf: Prometheus needs scrape_native_histograms.
	Native
	// ClassicAndNative exposes both under one name, for the time of a change.
	ClassicAndNative
)

// String is the form in words.
func (h Histograms) String() string {
	switch h {
	case Classic:
		return "classic"
	case Native:
		return "native"
	case ClassicAndNative:
		return "classic and native"
	}
	return fmt.Sprintf("Histograms(%d)", int(h))
}

// Option configures an Exporter. Nil options are ignored.
type Option func(*config)

type config struct {
	histograms Histograms
	exemplars  bool
	constant   prometheus.Labels
}

// WithHistograms sets the form of histograms, Classic by default. A histogram
// appears with its first observation.
func WithHistograms(h Histograms) Option { return func(c *config) { c.histograms = h } }

// WithExemplars keeps, beside the values of histograms, the trace of the last
// sampled operation in each bucket: trace_id and span_id of the span in the
// operation's context. Scrapes in text need EnableOpenMetrics on the handler.
func WithExemplars() Option { return func(c *config) { c.exemplars = true } }

// WithConstLabels adds labels to every series. They come from the program, not
// from lock names, and are not redacted. Register returns an error for a name that
// a series already has or that Prometheus reserves.
func WithConstLabels(l prometheus.Labels) Option {
	return func(c *config) { c.constant = maps.Clone(l) }
}

func newConfig(opts []Option) (config, error) {
	var c config
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	if c.histograms < Classic || c.histograms > ClassicAndNative {
		return c, fmt.Errorf("leaderscope: WithHistograms(%d): unknown form; valid forms: Classic, Native, ClassicAndNative", int(c.histograms))
	}
	return c, nil
}

func (c config) equal(d config) bool {
	return c.histograms == d.histograms && c.exemplars == d.exemplars && maps.Equal(c.constant, d.constant)
}

func (c config) native() bool { return c.histograms != Classic }

// listens reports whether the core's own distributions are not enough.
func (c config) listens() bool { return c.native() || c.exemplars }
