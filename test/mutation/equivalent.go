package main

import (
	"errors"
	"fmt"
	"strings"
)

// equivalent is a mutant that no test can tell from the original. The fields
// of the change are those that the report prints; nth is only for changes
// that a function has several times. Without old and new it is every mutant of
// that kind in that function.
type equivalent struct {
	change
	reason string
}

// equivalentsAmong finds the mutants of one package that are named. An entry
// must match exactly one of them, or if it is about all of a kind, at least one.
func equivalentsAmong(named []equivalent, mutants []*mutant) (equal map[*mutant]bool, err error) {
	byChange := make(map[change]*mutant, len(mutants))
	for _, m := range mutants {
		byChange[m.change] = m
	}
	equal = map[*mutant]bool{}
	for _, e := range named {
		found := e.among(mutants, byChange)
		switch {
		case strings.TrimSpace(e.reason) == "":
			err = errors.Join(err, fmt.Errorf("%v: an equivalent needs a reason", e))
		case len(found) == 0:
			err = errors.Join(err, fmt.Errorf("%v: %s", e, e.stale(mutants)))
		}
		for _, m := range found {
			if equal[m] {
				err = errors.Join(err, fmt.Errorf("%v: named twice", e))
			}
			equal[m] = true
		}
	}
	return equal, err
}

// among finds what an entry names.
func (e equivalent) among(mutants []*mutant, byChange map[change]*mutant) (found []*mutant) {
	if m := byChange[e.change]; m != nil {
		return []*mutant{m}
	}
	for _, m := range mutants {
		if e.old == "" && e.new == "" && m.in == e.in && m.kind == e.kind {
			found = append(found, m)
		}
	}
	return found
}

// stale says why an entry matches nothing.
func (e equivalent) stale(mutants []*mutant) string {
	var numbered int
	var near []string
	for _, m := range mutants {
		if m.in != e.in || m.kind != e.kind {
			continue
		}
		near = append(near, m.old+" -> "+m.new)
		if m.old == e.old && m.new == e.new {
			numbered++
		}
	}
	switch {
	case numbered > 1:
		return fmt.Sprintf("matches %d mutants; set nth from 1 to %d", numbered, numbered)
	case numbered == 1:
		return "matches one mutant; leave nth out"
	case len(near) > 0:
		return "matches no mutant; the most similar ones:\n\t" + strings.Join(nearest(e.old+" -> "+e.new, near), "\n\t")
	default:
		return "matches no mutant; the function has none of this kind"
	}
}

func (e equivalent) String() string {
	text := fmt.Sprintf("equivalent in %s, %s, %s", e.folder, e.in, e.kind)
	if e.old != "" || e.new != "" {
		text += fmt.Sprintf(": %s -> %s", e.old, e.new)
	}
	return text
}
