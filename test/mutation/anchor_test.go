package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnEntryThatDoesNotFitTheCodeIsAnErrorThatSaysHow(t *testing.T) {
	clamp := func(change func(*equivalent)) config {
		e := clampAtTheLimit
		change(&e)
		return config{equivalents: []equivalent{e}}
	}
	written := func(f fault) config {
		f.what = "a wrong clamp"
		return config{faults: []fault{f}}
	}
	cases := map[string]struct {
		entries config
		want    string
	}{
		"an equivalent of changed code": {
			clamp(func(e *equivalent) { e.old = "if n > upper" }),
			"equivalent in core, Clamp, swap comparison: if n > upper -> if n >= limit: matches no mutant; the most similar ones:\n" +
				"\tif n > limit -> if n >= limit",
		},
		"an equivalent of a function that is gone": {
			clamp(func(e *equivalent) { e.in = "Clip" }),
			"equivalent in core, Clip, swap comparison: if n > limit -> if n >= limit: matches no mutant; the function has none of this kind",
		},
		"an equivalent of a package that is gone": {
			clamp(func(e *equivalent) { e.folder = "core/old" }),
			"equivalent in core/old, Clamp, swap comparison: if n > limit -> if n >= limit: no package core/old; valid packages: [core core/internal/scale core/nested]",
		},
		"an equivalent without a reason": {
			clamp(func(e *equivalent) { e.reason = " " }),
			"equivalent in core, Clamp, swap comparison: if n > limit -> if n >= limit: an equivalent needs a reason",
		},
		"a number where there is one": {
			clamp(func(e *equivalent) { e.nth = 1 }),
			"equivalent in core, Clamp, swap comparison: if n > limit -> if n >= limit: matches one mutant; leave nth out",
		},
		"no number where there are several": {
			clamp(func(e *equivalent) {
				e.in, e.kind, e.old, e.new = "Twin", dropCall, "work()", dropped
			}),
			"equivalent in core, Twin, drop call: work() -> (dropped): matches 2 mutants; set nth from 1 to 2",
		},
		"a fault in a statement that has changed": {
			written(fault{folder: "core", in: "Clamp", good: "return limits", bad: "return 0"}),
			"fault \"a wrong clamp\": Clamp has no \"return limits\"; the most similar lines there:\n\treturn limit\n\treturn n\n\tif n > limit",
		},
		"a fault in a statement that has moved": {
			written(fault{folder: "core", in: "Clamp", good: "return scale.By(_)", bad: "return 0"}),
			`fault "a wrong clamp": Clamp has no "return scale.By(_)"; it is in Scaled`,
		},
		"a fault in a function that is gone": {
			written(fault{folder: "core", in: "CountUp", good: "n += 2", bad: ""}),
			`fault "a wrong clamp": package core has no function CountUp; the most similar names: Countdown, Clamp, Double`,
		},
		"a fault that fits twice": {
			written(fault{folder: "core", in: "Clamp", good: "return _", bad: "return 0"}),
			`fault "a wrong clamp": Clamp has "return _" 2 times; add what is around the one that is meant`,
		},
		"a fault that does not compile": {
			written(fault{folder: "core", in: "Clamp", good: "return limit", bad: "return missing"}),
			`fault "a wrong clamp": the fault does not compile: undefined: missing`,
		},
		"a fault in a package that is gone": {
			written(fault{folder: "core/old", in: "Clamp", good: "return limit"}),
			`fault "a wrong clamp": no package core/old; valid packages: [core core/internal/scale core/nested]`,
		},
		"a fault that is no Go": {
			written(fault{folder: "core", in: "Clamp", good: "return ("}),
			`fault "a wrong clamp": "return (" is neither an expression nor statements: 2:1: expected operand, found '}'`,
		},
	}
	c := tiny(t)
	twin := "package core\n\nfunc Twin() {\n\twork()\n\twork()\n}\n\nfunc work() {}\n"
	if err := os.WriteFile(filepath.Join(c.root, "core", "twin.go"), []byte(twin), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			c.faults, c.equivalents = test.entries.faults, test.entries.equivalents
			_, err := prepare(t.Context(), c)
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(test.want, strings.Split(err.Error(), " (and ")[0]); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// An entry that is out of date would otherwise be noticed by the next campaign
// only.
func TestEveryFaultAndEquivalentHasItsPlaceInTheRepository(t *testing.T) {
	var packages []string
	for _, f := range faults {
		packages = append(packages, f.folder)
	}
	for _, e := range equivalents {
		packages = append(packages, e.folder)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prepare(t.Context(), config{
		root: root, rooms: rooms, pattern: strings.Join(packages, ","),
		faults: faults, equivalents: equivalents,
	}); err != nil {
		t.Error(err)
	}
}

func TestAPatternMatchesWhatItSaysWhateverTheLayout(t *testing.T) {
	const source = `package p

func f() {
	if a && b { // a comment
		call(
			1,
			x.y)
	}
	for range n {
		prepare(); call(2, z)
		more()
		finish()
	}
	spread(all...)
	pair(k, k)
	pair(k, v)
	switch { case late: call(3, w); return }
}`
	cases := map[string][]string{ // pattern: what it finds
		"a && b":                 {"a && b"},
		"a && _":                 {"a && b"},
		"call(1, x.y)":           {"call(\n\t\t\t1,\n\t\t\tx.y)"},
		"call(_, z)":             {"call(2, z)"},
		"call(_1, _2)":           {"call(\n\t\t\t1,\n\t\t\tx.y)", "call(2, z)", "call(3, w)"},
		"pair(_1, _1)":           {"pair(k, k)"},
		"pair(_, _)":             {"pair(k, k)", "pair(k, v)"},
		"spread(all)":            nil,
		"spread(all...)":         {"spread(all...)"},
		"prepare(); call(_, _)":  {"prepare(); call(2, z)"},
		"prepare(); more()":      nil,
		"prepare(); _; finish()": {"prepare(); call(2, z)\n\t\tmore()\n\t\tfinish()"},
		"for range n { _ }":      {"for range n {\n\t\tprepare(); call(2, z)\n\t\tmore()\n\t\tfinish()\n\t}"},
		"for range m { _ }":      nil,
		"call(3, _1); return":    {"call(3, w); return"},
		"x._":                    nil,
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range cases {
		t.Run(text, func(t *testing.T) {
			p, err := parsePattern(text)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range p.find(f) {
				got = append(got, source[fset.Position(m.first.Pos()).Offset:fset.Position(m.last.End()).Offset])
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestAReplacementMentionsWhatThePatternCaptured(t *testing.T) {
	p, err := parsePattern("max(_1, _2)")
	if err != nil {
		t.Fatal(err)
	}
	in, err := parser.ParseExpr("max(a+b, f(c))")
	if err != nil {
		t.Fatal(err)
	}
	m := p.find(&ast.ExprStmt{X: in})[0]
	if got, err := m.fill("min(_2, _1)"); got != "min(f(c), a + b)" || err != nil {
		t.Errorf("the replacement is %q, %v", got, err)
	}
	if _, err := m.fill("_3"); err == nil {
		t.Error("a replacement mentions what was not captured, without an error")
	}
}

func TestASampleStaysTheSameWhenOtherCodeChanges(t *testing.T) {
	draw := func(names ...string) (order []string) {
		var mutants []*mutant
		for _, name := range names {
			mutants = append(mutants, &mutant{change: change{in: name}})
		}
		shuffle(mutants, 7)
		for _, m := range mutants {
			order = append(order, m.in)
		}
		return order
	}
	all := draw("a", "b", "c", "d", "e", "f")
	if again := draw("f", "e", "d", "c", "b", "a"); !slices.Equal(all, again) {
		t.Errorf("orders %v and %v of one seed", all, again)
	}
	without := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return name == "c" })
	if fewer := draw("a", "b", "d", "e", "f"); !slices.Equal(without, fewer) {
		t.Errorf("order %v with one less, want %v", fewer, without)
	}
}

func TestPackagesAreChosenByFolder(t *testing.T) {
	cases := []struct {
		patterns, folder string
		want             bool
	}{
		{"", "redact", true},
		{"redact", "redact", true},
		{"redact", "redact/rulesfile", false},
		{"redact/...", "redact", true},
		{"./redact/...", "redact/rulesfile", true},
		{"red/...", "redact", false},
		{"exporter/prom,redact", "redact", true},
		{"./...", "redact", true},
	}
	for _, c := range cases {
		if got := matchesFolder(c.patterns, c.folder); got != c.want {
			t.Errorf("%q matches %s: %v", c.patterns, c.folder, got)
		}
	}
}
