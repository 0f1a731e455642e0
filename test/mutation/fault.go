package main

import (
	"fmt"
	"go/parser"
	"strings"
)

// fault is a change for the worse that could be made in good faith. Its
// anchor is a function and a pattern, which must match there exactly once.
type fault struct {
	what   string // what is wrong with the changed program
	folder string // below the root
	in     string // Type.method or function
	good   string // pattern, see there
	bad    string // what takes its place; empty drops the statements
}

// mutant finds the fault's anchor in its package.
func (f fault) mutant(s *syntax) (*mutant, error) {
	p, err := parsePattern(f.good)
	if err != nil {
		return nil, err
	}
	var matches []found
	var at declaration
	known := false
	for _, d := range s.declarations() {
		if d.name != f.in {
			continue
		}
		known = true
		for _, m := range p.find(d.node) {
			matches, at = append(matches, m), d
		}
	}
	switch {
	case !known:
		return nil, fmt.Errorf("package %s has no function %s%s", f.folder, f.in, f.elsewhere(s, p))
	case len(matches) == 0:
		return nil, fmt.Errorf("%s has no %q%s", f.in, oneLine(f.good), f.elsewhere(s, p))
	case len(matches) > 1:
		return nil, fmt.Errorf("%s has %q %d times; add what is around the one that is meant", f.in, oneLine(f.good), len(matches))
	}
	return f.apply(s, at, matches[0])
}

func (f fault) apply(s *syntax, at declaration, m found) (*mutant, error) {
	start, end := s.offset(m.first.Pos()), s.offset(m.last.End())
	original := string(at.file.text[start:end])
	text, err := m.fill(f.bad)
	if err != nil {
		return nil, err
	}
	shown := oneLine(text)
	if text == "" {
		text, shown = never(original), dropped
	} else if _, err := parser.ParseExpr(text); err == nil {
		text = "(" + text + ")"
	}
	mutated := &mutant{
		change: change{folder: s.rel, in: f.in, kind: handWritten, old: oneLine(original), new: shown},
		pkg:    s.pkg, file: at.file, start: start, end: end, text: text,
		line: s.fset.Position(m.first.Pos()).Line, covered: s.fset.Position(m.first.Pos()),
		what: f.what,
	}
	if err := s.compiles(mutated); err != nil {
		return nil, fmt.Errorf("the fault does not compile: %w", err)
	}
	return mutated, nil
}

// elsewhere says where the anchor may have gone: to other functions of the
// package, or to lines of the same function that look like it.
func (f fault) elsewhere(s *syntax, p pattern) string {
	var moved, names, lines []string
	for _, d := range s.declarations() {
		if len(p.find(d.node)) > 0 {
			moved = append(moved, d.name)
		}
		names = append(names, d.name)
		if d.name == f.in {
			lines = append(lines, linesOf(d.node)...)
		}
	}
	switch {
	case len(moved) > 0:
		return "; it is in " + strings.Join(moved, ", ")
	case len(lines) > 0:
		return "; the most similar lines there:\n\t" + strings.Join(nearest(f.good, lines), "\n\t")
	default:
		return "; the most similar names: " + strings.Join(nearest(f.in, names), ", ")
	}
}
