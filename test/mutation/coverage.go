package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// coverage says which blocks of a file the tests of one package reach.
type coverage map[string][]block // by import path and file name

// block is a range of a source file, as in a coverage profile.
type block struct {
	fromLine, fromColumn, toLine, toColumn, count int
}

func readCoverage(profile string) (coverage, error) {
	text, err := os.ReadFile(profile)
	if err != nil {
		return nil, err
	}
	c := coverage{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "mode:") {
			continue
		}
		colon := strings.LastIndex(line, ":")
		var b block
		var statements int
		if _, err := fmt.Sscanf(line[colon+1:], "%d.%d,%d.%d %d %d", &b.fromLine, &b.fromColumn, &b.toLine, &b.toColumn, &statements, &b.count); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", profile, line, err)
		}
		c[line[:colon]] = append(c[line[:colon]], b)
	}
	return c, nil
}

// reaches reports whether the tests run into a mutant. What is in no block,
// such as a variable at package level, counts as reached.
func (c coverage) reaches(m *mutant) bool {
	if c == nil {
		return true
	}
	known := false
	for _, b := range c[path.Join(m.pkg.path, filepath.Base(m.file.path))] {
		if b.contains(m.covered.Line, m.covered.Column) {
			known = true
			if b.count > 0 {
				return true
			}
		}
	}
	return !known
}

func (b block) contains(line, column int) bool {
	after := line > b.fromLine || line == b.fromLine && column >= b.fromColumn
	before := line < b.toLine || line == b.toLine && column < b.toColumn
	return after && before
}
