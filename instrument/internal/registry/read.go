package registry

import (
	"cmp"
	"slices"
)

// Read visits the reading of every label, sorted, as it is now. The reading is
// used again after the visit, which runs without any mutex. It reports false
// when the registry is closed.
func (r *Registry) Read(visit func(*Reading)) bool { return r.visit(nil, visit) }

func (r *Registry) visit(terms *Terms, visit func(*Reading)) bool {
	r.mu.Lock()
	closed := r.closed.Load()
	all := make([]*Label, 0, len(r.labels))
	for _, b := range r.labels {
		all = append(all, b)
	}
	r.mu.Unlock()
	if closed {
		return false
	}
	slices.SortFunc(all, func(a, b *Label) int { return cmp.Compare(a.shown, b.shown) })
	var reading Reading
	for _, b := range all {
		if b.read(&reading, terms) {
			visit(&reading)
		}
	}
	return true
}
