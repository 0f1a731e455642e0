package main

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"go/token"
	"path"
	"path/filepath"
	"slices"
)

// mutant is one change of one file: the bytes from start to end become text.
type mutant struct {
	change
	pkg        *pkg
	file       *file
	start, end int
	text       string
	line       int
	covered    token.Position // what decides which tests reach the change
	what       string         // description of a hand-written fault; else empty
}

// change names a mutant independently of where it is in its file.
type change struct {
	folder   string // below the root
	in       string // Type.method, function, or the variable at package level
	kind     kind
	old, new string // the statement or the expression around the change, on one line
	nth      int    // from 1, where several in one function are equal; else 0
}

// kind is a kind of change that the program makes.
type kind string

const (
	negateCondition kind = "negate condition"
	swapComparison  kind = "swap comparison"
	swapLogic       kind = "swap && and ||"
	swapArithmetic  kind = "swap arithmetic"
	swapMinMax      kind = "swap min and max"
	dropCall        kind = "drop call"
	dropAssignment  kind = "drop assignment"
	dropIncrement   kind = "drop increment"
	dropDefer       kind = "drop defer"
	dropGo          kind = "drop go"
	dropSend        kind = "drop send"
	dropReturn      kind = "drop return"
	dropBranch      kind = "drop branch"
	zeroResult      kind = "zero result"
	changeConstant  kind = "change constant"
	flipBoolean     kind = "flip boolean"
	handWritten     kind = "hand-written"
	dropped              = "(dropped)" // the new text of what was dropped
)

// source is the whole file with the change in it.
func (m *mutant) source() []byte {
	return slices.Concat(m.file.text[:m.start], []byte(m.text), m.file.text[m.end:])
}

// where is file:line below the root.
func (m *mutant) where() string {
	return fmt.Sprintf("%s:%d", path.Join(m.pkg.rel, filepath.Base(m.file.path)), m.line)
}

// number sets nth where several changes of a package are equal.
func number(mutants []*mutant) {
	equal := map[change][]*mutant{}
	for _, m := range mutants {
		equal[m.change] = append(equal[m.change], m)
	}
	for _, group := range equal {
		if len(group) < 2 {
			continue
		}
		for i, m := range group {
			m.nth = i + 1
		}
	}
}

// shuffle orders mutants by a hash of the seed and the change, so that a
// sample stays the same when other code changes.
func shuffle(mutants []*mutant, seed int64) {
	rank := make(map[*mutant]string, len(mutants))
	for _, m := range mutants {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %+v", seed, m.change))
		rank[m] = string(sum[:])
	}
	slices.SortFunc(mutants, func(a, b *mutant) int { return cmp.Compare(rank[a], rank[b]) })
}
