package prom

import (
	"cmp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// labels holds, for each metric, its label pairs in the order of their names,
// as the registry wants them. What does not change is made once.
type labels map[*catalog.Metric][]source

// source is where one pair of a series comes from.
type source struct {
	name  string
	fixed *dto.LabelPair // a constant label
	lock  bool           // lock_name
	index int            // of Sample.Values otherwise
	known []*dto.LabelPair
}

func newLabels(constant prometheus.Labels) labels {
	all := labels{}
	for _, m := range catalog.All() {
		var sources []source
		for name, value := range constant {
			sources = append(sources, source{name: name, fixed: pair(name, value)})
		}
		if m.PerLock() {
			sources = append(sources, source{name: catalog.LockName.Name(), lock: true})
		}
		for i, l := range m.Labels() {
			s := source{name: l.Name(), index: i}
			for _, value := range l.Values() {
				s.known = append(s.known, pair(l.Name(), value))
			}
			sources = append(sources, s)
		}
		slices.SortFunc(sources, func(a, b source) int { return cmp.Compare(a.name, b.name) })
		all[m] = sources
	}
	return all
}

// pair returns the pair of a sample; lock is that of its lock.
func (s *source) pair(sample *instrument.Sample, lock *dto.LabelPair) *dto.LabelPair {
	switch {
	case s.fixed != nil:
		return s.fixed
	case s.lock:
		return lock
	}
	value := sample.Values[s.index]
	for _, p := range s.known {
		if p.GetValue() == value {
			return p
		}
	}
	return pair(s.name, value)
}

func pair(name, value string) *dto.LabelPair {
	return &dto.LabelPair{Name: proto.String(name), Value: proto.String(value)}
}
