package fleet

import (
	"math"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
)

// Series is one stored series. It implements storage.Series.
type Series struct {
	labels  labels.Labels
	samples samples
}

// Labels implements storage.Series.
func (s *Series) Labels() labels.Labels { return s.labels }

// Iterator implements storage.Series.
func (s *Series) Iterator(chunkenc.Iterator) chunkenc.Iterator {
	return storage.NewListSeriesIterator(s.samples)
}

// Between reports whether it may have samples then, in milliseconds.
func (s *Series) Between(from, to int64) bool {
	return len(s.samples) > 0 && s.samples[0].t <= to && s.samples[len(s.samples)-1].t >= from
}

func (s *Series) add(t int64, v float64) { s.samples = append(s.samples, sample{t, v}) }

// end marks it stale, unless it was written then or has ended.
func (s *Series) end(t int64) {
	last := s.samples[len(s.samples)-1]
	if last.t < t && math.Float64bits(last.f) != value.StaleNaN {
		s.add(t, math.Float64frombits(value.StaleNaN))
	}
}

// samples implements storage.Samples without a copy.
type samples []sample

func (s samples) Get(i int) chunks.Sample { return &s[i] }
func (s samples) Len() int                { return len(s) }

type sample struct {
	t int64
	f float64
}

func (s *sample) T() int64                    { return s.t }
func (*sample) ST() int64                     { return 0 }
func (s *sample) F() float64                  { return s.f }
func (*sample) H() *histogram.Histogram       { return nil }
func (*sample) FH() *histogram.FloatHistogram { return nil }
func (*sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s *sample) Copy() chunks.Sample         { return &sample{s.t, s.f} }

func compareLabels(a, b *Series) int { return labels.Compare(a.labels, b.labels) }
