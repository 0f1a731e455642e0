package prom

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// metric is one sample, kept until the registry has written it.
type metric struct {
	desc      *prometheus.Desc
	kind      catalog.Kind
	labels    []*dto.LabelPair
	value     float64
	created   *timestamppb.Timestamp
	histogram *distribution
}

// distribution is the value of a histogram.
type distribution struct {
	bounds    []float64
	counts    []uint64
	sum       float64
	exemplars exemplars
}

// Desc implements prometheus.Metric.
func (m *metric) Desc() *prometheus.Desc { return m.desc }

// Write implements prometheus.Metric. Numbers are pointers in the protocol;
// each is allocated together with what points to it.
func (m *metric) Write(out *dto.Metric) error {
	out.Label = m.labels
	switch m.kind {
	case catalog.Counter:
		c := &struct {
			dto   dto.Counter
			value float64
		}{value: m.value}
		c.dto.Value, c.dto.CreatedTimestamp = &c.value, m.created
		out.Counter = &c.dto
	case catalog.Histogram:
		out.Histogram = m.histogram.write()
		out.Histogram.CreatedTimestamp = m.created
	default:
		g := &struct {
			dto   dto.Gauge
			value float64
		}{value: m.value}
		g.dto.Value = &g.value
		out.Gauge = &g.dto
	}
	return nil
}

// bucket is a bucket and what it points to.
type bucket struct {
	dto   dto.Bucket
	upTo  uint64
	bound float64
}

func (d *distribution) write() *dto.Histogram {
	h := &struct {
		dto   dto.Histogram
		count uint64
		sum   float64
	}{sum: d.sum}
	finite := len(d.bounds)
	buckets := make([]bucket, len(d.counts))
	h.dto.Bucket = make([]*dto.Bucket, 0, len(d.counts))
	for i, n := range d.counts {
		h.count += n
		b := &buckets[i]
		b.upTo, b.bound = h.count, math.Inf(1)
		if i < finite {
			b.bound = d.bounds[i]
		}
		b.dto.CumulativeCount, b.dto.UpperBound, b.dto.Exemplar = &b.upTo, &b.bound, d.exemplars.of(i)
		if i < finite || b.dto.Exemplar != nil { // +Inf is implied
			h.dto.Bucket = append(h.dto.Bucket, &b.dto)
		}
	}
	h.dto.SampleCount, h.dto.SampleSum = &h.count, &h.sum
	return &h.dto
}
