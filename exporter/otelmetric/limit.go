package otelmetric

import (
	"errors"
	"sync"

	"go.opentelemetry.io/otel"
)

// ErrCardinality means that locks have more attribute sets than the SDK keeps
// for one instrument: further sets lose their lock.name, and no rule finds them.
// It is passed to otel.Handle once for each export.
var ErrCardinality = errors.New("leaderscope: more attribute sets than the OpenTelemetry SDK keeps for one instrument, so the series of some locks end up under otel.metric.overflow; raise the provider's limit (metric.WithCardinalityLimit) and repeat it in otelmetric.WithCardinalityLimit, or, where locks come and go, export histograms by otelsetup.Histograms")

// limit watches for the number of attribute sets beyond which an SDK folds.
type limit struct {
	sets     int // 0 or less: none
	exceeded sync.Once

	mu     sync.Mutex
	labels map[string]struct{} // of which the SDK has histograms
}

// check takes the number of sets of one instrument in one collection. One set
// of the SDK's is the overflow's.
func (l *limit) check(sets int) {
	if l.sets > 0 && sets >= l.sets {
		l.exceeded.Do(func() { otel.Handle(ErrCardinality) })
	}
}

// add takes a label of which the SDK keeps histograms from now on. The labels
// are remembered up to the limit: those that come back are not new to the SDK.
func (l *limit) add(label string) {
	l.mu.Lock()
	if len(l.labels) < l.sets {
		if l.labels == nil {
			l.labels = map[string]struct{}{}
		}
		l.labels[label] = struct{}{}
	}
	sets := len(l.labels)
	l.mu.Unlock()
	l.check(sets)
}
