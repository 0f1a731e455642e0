package main

import (
	"cmp"
	"go/ast"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// nearest returns up to three of the candidates that share the most words
// with a text, the most similar first.
func nearest(text string, candidates []string) []string {
	want := words(text)
	score := map[string]float64{}
	for _, c := range candidates {
		score[c] = similarity(want, words(c))
	}
	unique := slices.Compact(slices.Sorted(slices.Values(candidates)))
	slices.SortStableFunc(unique, func(a, b string) int { return cmp.Compare(score[b], score[a]) })
	return unique[:min(3, len(unique))]
}

func similarity(a, b map[string]bool) float64 {
	common := 0
	for word := range a {
		if b[word] {
			common++
		}
	}
	return float64(common) / float64(max(1, len(a)+len(b)-common))
}

// words are the tokens of a piece of Go, and every three letters of its names,
// so that a name is similar to what it was before it was changed.
func words(text string) map[string]bool {
	all := map[string]bool{}
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", -1, len(text)), []byte(text), nil, 0)
	for {
		_, tok, lit := s.Scan()
		if tok == token.EOF {
			return all
		}
		if tok == token.SEMICOLON {
			continue
		}
		all[cmp.Or(lit, tok.String())] = true
		for i := range len(lit) - 2 {
			all[strings.ToLower(lit[i:i+3])] = true
		}
	}
}

// linesOf prints each statement of a declaration on one line.
func linesOf(n ast.Node) (lines []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if stmt, ok := n.(ast.Stmt); ok {
			if _, block := stmt.(*ast.BlockStmt); !block {
				lines = append(lines, header(stmt))
			}
		}
		return true
	})
	return lines
}
