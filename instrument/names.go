package instrument

import (
	"hash/maphash"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/redact"
)

// digest stands for a name in memory, where names are not kept: 127 bits under
// seeds of this process, independent of any label.
type digest struct{ first, second uint64 }

type digester struct{ first, second maphash.Seed }

func newDigester() digester { return digester{maphash.MakeSeed(), maphash.MakeSeed()} }

func (d *digester) of(name string) digest {
	return digest{maphash.String(d.first, name) | 1, maphash.String(d.second, name)} // not zero, which is no name
}

// place finds or makes the series of a label; beyond the cap it is the shared
// overflow. The caller holds mu.
func (m *Middleware) place(label redact.Label, name digest, created time.Time) *series {
	s := m.series[label.Text]
	if s == nil && !m.hasRoom() && label.Text != redact.Overflow {
		m.overflowed(label.Family)
		label = redact.Label{Text: redact.Overflow, Shared: true}
		s = m.series[label.Text]
	}
	if s == nil {
		s = &series{label: label.Text, name: name, created: created.UnixNano(), m: m}
		if !m.closed {
			m.series[label.Text] = s
			m.observe(s)
		}
	}
	if !label.Shared && s.name != name && s.shown.Load() == nil {
		m.collided(s)
	}
	return s
}

// hasRoom reports whether another label fits; the overflow label does not
// count.
func (m *Middleware) hasRoom() bool {
	n := len(m.series)
	if m.series[redact.Overflow] != nil {
		n--
	}
	return n < m.maxLabels
}

// observe gives a series the observers of all attachments. The caller holds
// mu, and the mutex of a series that others can reach.
func (m *Middleware) observe(s *series) {
	var observers []Observer
	for _, a := range m.attached {
		observers = append(observers, m.newObserver(a, s.lockName())...)
	}
	s.watch(observers)
}

// overflowed counts a name beyond the cap; the first is logged.
func (m *Middleware) overflowed(family string) {
	m.overflows++
	if m.overflows > 1 || m.logger == nil {
		return
	}
	attrs := []slog.Attr{slog.String(catalog.LockName.Name, redact.Overflow), slog.Int("max_labels", m.maxLabels)}
	if family != "" {
		attrs = append(attrs, slog.String("family", family))
	}
	m.logs.put(slog.LevelWarn, "the cap on lock labels is reached, further names share one label", attrs...)
}

// collided gives a label that turned out to stand for two names the form of
// shared labels, so that nobody takes two leaders under it for a split brain.
// It does not matter which name came first: every replica that has both shows
// the same.
func (m *Middleware) collided(s *series) {
	shown := s.label
	if len(shown) == redact.MaxLabelSize {
		shown = strings.ToValidUTF8(shown[:len(shown)-len(redact.Wildcard)], "")
	}
	shown += redact.Wildcard
	s.mu.Lock()
	old := s.watchers()
	s.shown.Store(&shown)
	if !m.closed {
		m.observe(s)
	}
	s.mu.Unlock()
	for _, o := range old {
		m.closeObserver(o)
	}
	m.collisions++
	if m.logger != nil {
		m.logs.put(slog.LevelWarn, "two lock names have the same label", slog.String(catalog.LockName.Name, shown))
	}
}

// Collisions counts labels that turned out to stand for two names, by the
// digests of live names: from then on such a label ends in "*", as the labels
// of families do, and rules that judge one lock leave it out. Names are not
// compared between processes.
func (m *Middleware) Collisions() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.collisions
}

// lockName is the label as it is exported.
func (s *series) lockName() string {
	if shown := s.shown.Load(); shown != nil {
		return *shown
	}
	return s.label
}

// words are the values that an open label has had.
type words []string

// bound returns the word, or the overflow label when there would be more words
// than that: families and backends that are made of names are no series each.
func (w *words) bound(word string, limit int) string {
	switch {
	case word == "" || slices.Contains(*w, word):
		return word
	case len(*w) >= limit:
		return redact.Overflow
	}
	*w = append(*w, word)
	return word
}
