package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
)

// verdict is what became of a mutant.
type verdict struct {
	mutant *mutant
	fate   fate
	detail string // the test that killed it, or why it is not killed
}

type fate int

const (
	killed fate = iota
	survived
	timedOut
	notCompiling
)

func (f fate) String() string {
	return [...]string{"killed", "survived", "timed out", "not compiling"}[f]
}

const uncovered = "no test reaches it"

// try lets the judges that reach a mutant run, one after another, until one
// fails.
func (r *runner) try(ctx context.Context, m *mutant, judges []*judge) (verdict, error) {
	dir, err := os.MkdirTemp(r.dir, "mutant")
	if err != nil {
		return verdict{}, err
	}
	defer os.RemoveAll(dir)
	flag, err := overlay(m, dir)
	if err != nil {
		return verdict{}, err
	}
	detail := uncovered
	for _, j := range judges {
		if !j.reached.reaches(m) {
			continue
		}
		binary := filepath.Join(dir, "mutant.test")
		if err := r.build(ctx, j.pkg, binary, flag); errors.Is(err, errBuild) {
			return verdict{m, notCompiling, err.Error()}, nil
		} else if err != nil {
			return verdict{}, err
		}
		res, flaky, err := r.judge(ctx, j, binary)
		switch {
		case err != nil:
			return verdict{}, err
		case res.outcome == ranOut:
			return verdict{m, timedOut, j.rel + " " + res.detail}, nil
		case res.outcome == failed && res.test == "":
			return verdict{m, killed, j.rel + " crashes"}, nil
		case res.outcome == failed:
			return verdict{m, killed, j.rel + " " + res.test}, nil
		case flaky:
			detail = j.rel + " failed once and passed when repeated"
		case detail == uncovered:
			detail = ""
		}
	}
	return verdict{m, survived, detail}, nil
}

// judge runs the tests on a mutant. A failure counts when it happens again: in
// the failed test alone, or, should that pass, in all of them.
func (r *runner) judge(ctx context.Context, j *judge, binary string) (res result, flaky bool, err error) {
	x := execution{binary: binary, limit: r.limit(j)}
	first, err := r.run(ctx, j.pkg, x)
	if err != nil || first.outcome != failed {
		return first, false, err
	}
	if first.test != "" {
		alone := x
		alone.args = []string{"-test.run=^" + regexp.QuoteMeta(first.test) + "$"}
		if again, err := r.run(ctx, j.pkg, alone); err != nil || again.outcome == failed {
			return first, false, err
		}
	}
	again, err := r.run(ctx, j.pkg, x)
	return again, again.outcome == passed, err
}
