package lock

import "slices"

// identity is one with which this process campaigns, and how often.
type identity struct {
	label string
	times int
}

// Identify notes that this process campaigns with an identity of that label.
func (s *State) Identify(label string) {
	if s.retired {
		return
	}
	seen := s.observing()
	if i := seen.indexOf(label); i >= 0 {
		seen.identities[i].times++
		return
	}
	seen.identities = append(seen.identities, identity{label, 1})
}

// Unidentify takes one campaign with that identity away.
func (s *State) Unidentify(label string) {
	if s.observation == nil {
		return
	}
	seen := s.observation
	i := seen.indexOf(label)
	if i < 0 {
		return
	}
	if seen.identities[i].times--; seen.identities[i].times == 0 {
		seen.identities = slices.Delete(seen.identities, i, i+1)
	}
}

func (o *observation) indexOf(label string) int {
	return slices.IndexFunc(o.identities, func(x identity) bool { return x.label == label })
}

// AppendIdentities adds the labels of the identities in use to a list of
// different ones.
func (s *State) AppendIdentities(to []string) []string {
	if s.observation == nil {
		return to
	}
	for _, x := range s.observation.identities {
		if !slices.Contains(to, x.label) {
			to = append(to, x.label)
		}
	}
	return to
}
