package otelmetric

// Locks is how many labels an exporter keeps.
func (e *Exporter) Locks() int {
	l := &e.shared.locks
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.by)
}
