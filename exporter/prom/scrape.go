package prom

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Sizes of what is allocated at once, about what one lock needs.
const (
	metricsAtOnce = 48
	pairsAtOnce   = 64
	countsAtOnce  = 64
)

// scrape turns samples into metrics. A registry keeps them until all are
// written, so they are new each time; but many to an allocation, and what the
// series of one lock have in common is there once.
type scrape struct {
	c       *collector
	metrics chan<- prometheus.Metric

	lock    *dto.LabelPair
	bare    []*dto.LabelPair // the labels of a metric without other labels
	created *timestamppb.Timestamp
	began   time.Time
	kept    *observer

	free   []metric
	pairs  []*dto.LabelPair
	counts []uint64
}

func (s *scrape) add(sample *instrument.Sample) {
	if s.lock == nil || s.lock.GetValue() != sample.Lock {
		s.begin(sample)
	}
	if s.created == nil || !s.began.Equal(sample.Created) {
		s.began, s.created = sample.Created, timestamppb.New(sample.Created)
	}
	if sample.Histogram != nil && s.c.config.native() {
		if h := s.kept.native(sample.Metric, sample.Values[0]); h != nil {
			s.metrics <- h
		}
		return
	}
	s.metrics <- s.metric(sample)
}

// begin starts with another lock, or with the series that belong to none.
func (s *scrape) begin(sample *instrument.Sample) {
	s.lock, s.bare = pair(catalog.LockName.Name(), sample.Lock), nil
	s.kept = s.c.locks.find(sample.Lock)
}

func (s *scrape) metric(sample *instrument.Sample) *metric {
	if len(s.free) == 0 {
		s.free = make([]metric, metricsAtOnce)
	}
	m := &s.free[0]
	s.free = s.free[1:]
	m.desc, m.kind, m.value, m.created = s.c.descs[sample.Metric], sample.Metric.Kind(), sample.Value, s.created
	m.labels = s.labels(sample)
	if h := sample.Histogram; h != nil {
		m.histogram = &distribution{bounds: s.c.bounds[sample.Metric], counts: s.copy(h.Counts), sum: h.Sum, exemplars: s.kept.exemplars(sample.Metric)}
	}
	return m
}

// labels are never appended to in place: their capacity is their length.
func (s *scrape) labels(sample *instrument.Sample) []*dto.LabelPair {
	bare := sample.Metric.PerLock() && sample.Metric.NumLabels() == 0
	if bare && s.bare != nil {
		return s.bare
	}
	sources := s.c.labels[sample.Metric]
	if len(s.pairs) < len(sources) {
		s.pairs = make([]*dto.LabelPair, max(pairsAtOnce, len(sources)))
	}
	labels := s.pairs[:len(sources):len(sources)]
	s.pairs = s.pairs[len(sources):]
	for i := range sources {
		labels[i] = sources[i].pair(sample, s.lock)
	}
	if bare {
		s.bare = labels
	}
	return labels
}

func (s *scrape) copy(counts []uint64) []uint64 {
	if len(s.counts) < len(counts) {
		s.counts = make([]uint64, max(countsAtOnce, len(counts)))
	}
	n := copy(s.counts, counts)
	kept := s.counts[:n:n]
	s.counts = s.counts[n:]
	return kept
}
