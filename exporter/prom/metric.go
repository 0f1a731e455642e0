package prom

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// metric is one sample, kept until the registry has written it.
type metric struct {
	desc    *prometheus.Desc
	kind    catalog.Kind
	bounds  []float64
	labels  []*dto.LabelPair
	value   float64
	counts  []uint64
	sum     float64
	created time.Time
}

func newMetric(desc *prometheus.Desc, s *instrument.Sample) *metric {
	m := &metric{
		desc: desc, kind: s.Metric.Kind, bounds: s.Metric.Bounds,
		labels: labelPairs(s), value: s.Value, created: s.Created,
	}
	if s.Histogram != nil {
		m.counts, m.sum = slices.Clone(s.Histogram.Counts), s.Histogram.Sum
	}
	return m
}

// labelPairs are in the order of their names, as the registry wants them.
func labelPairs(s *instrument.Sample) []*dto.LabelPair {
	pairs := make([]*dto.LabelPair, 0, len(s.Metric.Labels)+1)
	if s.Metric.PerLock {
		pairs = append(pairs, pair(catalog.LockName.Name, s.Lock))
	}
	for i, l := range s.Metric.Labels {
		pairs = append(pairs, pair(l.Name, s.Values[i]))
	}
	slices.SortFunc(pairs, func(a, b *dto.LabelPair) int {
		if a.GetName() < b.GetName() {
			return -1
		}
		return 1
	})
	return pairs
}

func pair(name, value string) *dto.LabelPair {
	return &dto.LabelPair{Name: proto.String(name), Value: proto.String(value)}
}

// Desc implements prometheus.Metric.
func (m *metric) Desc() *prometheus.Desc { return m.desc }

// Write implements prometheus.Metric.
func (m *metric) Write(out *dto.Metric) error {
	out.Label = m.labels
	switch m.kind {
	case catalog.Counter:
		out.Counter = &dto.Counter{Value: proto.Float64(m.value), CreatedTimestamp: timestamppb.New(m.created)}
	case catalog.Histogram:
		out.Histogram = m.histogram()
	default:
		out.Gauge = &dto.Gauge{Value: proto.Float64(m.value)}
	}
	return nil
}

func (m *metric) histogram() *dto.Histogram {
	h := &dto.Histogram{
		SampleSum:        proto.Float64(m.sum),
		CreatedTimestamp: timestamppb.New(m.created),
		Bucket:           make([]*dto.Bucket, len(m.bounds)),
	}
	var n uint64
	for i, bound := range m.bounds {
		n += m.counts[i]
		h.Bucket[i] = &dto.Bucket{CumulativeCount: proto.Uint64(n), UpperBound: proto.Float64(bound)}
	}
	h.SampleCount = proto.Uint64(n + m.counts[len(m.bounds)])
	return h
}
