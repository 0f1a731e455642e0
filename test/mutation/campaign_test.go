package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the golden files")

// tiny unpacks the small module and returns a configuration for all of it.
func tiny(t *testing.T) config {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/module.txtar")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := txtar.Write(archive, root); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOWORK", "off")
	return config{root: root, rooms: []string{"core"}, sample: -1, jobs: 2, slack: 3 * time.Second, progress: io.Discard}
}

var clampAtTheLimit = equivalent{
	change{folder: "core", in: "Clamp", kind: swapComparison, old: "if n > limit", new: "if n >= limit"},
	"at the limit both ways return the limit",
}

func TestEveryMutantOfASmallModuleMeetsItsFate(t *testing.T) {
	c := tiny(t)
	c.equivalents = []equivalent{clampAtTheLimit}
	c.faults = []fault{
		{what: "a clamp returns less", folder: "core", in: "Clamp", good: "return limit", bad: "return limit - 1"},
		{what: "a positive number has no sign", folder: "core", in: "Sign", good: "return +1", bad: "return 0"},
	}
	got, good := campaignReport(t, c)
	if good {
		t.Error("the report is good although a hand-written fault survived")
	}
	golden(t, "testdata/report.txt", got)
}

func TestTheReportIsGoodWhenAllFaultsAreKilled(t *testing.T) {
	c := tiny(t)
	c.sample, c.pattern = 0, "core"
	c.faults = []fault{{what: "a clamp returns less", folder: "core", in: "Clamp", good: "return limit", bad: "return limit - 1"}}
	if got, good := campaignReport(t, c); !good {
		t.Errorf("the report is not good:\n%s", got)
	}
}

func TestABudgetLeavesOutWhatWouldStartLater(t *testing.T) {
	c := tiny(t)
	c.pattern, c.budget = "core/nested", time.Nanosecond
	got, good := campaignReport(t, c)
	if want := "the budget of 1ns left out 5 mutants\n"; !strings.Contains(got, want) {
		t.Errorf("no line %q in:\n%s", want, got)
	}
	if good {
		t.Error("a report about no mutant at all is good")
	}
}

func TestATestThatFailsWithoutAMutantStopsTheCampaign(t *testing.T) {
	c := tiny(t)
	c.pattern = "core/nested"
	broken := "package nested\nimport \"testing\"\nfunc TestBroken(t *testing.T) { t.Error(\"broken\") }\n"
	if err := os.WriteFile(filepath.Join(c.root, "core/nested/broken_test.go"), []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	run, err := prepare(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	err = run.run(t.Context())
	if !errors.Is(err, errUnclean) || !strings.Contains(err.Error(), "core/nested fails without any mutant: TestBroken") {
		t.Errorf("the campaign returns %v", err)
	}
	if len(run.verdicts) > 0 {
		t.Errorf("%d mutants were judged", len(run.verdicts))
	}
}

func TestAPackageIsJudgedByItsOwnTestsAloneWhereItHasSome(t *testing.T) {
	needs := func(paths ...string) map[string]bool {
		all := map[string]bool{}
		for _, p := range paths {
			all[p] = true
		}
		return all
	}
	tested := &pkg{path: "tested", tested: true, needs: needs("tested")}
	untested := &pkg{path: "untested", needs: needs("untested")}
	user := &pkg{path: "user", tested: true, needs: needs("user", "tested", "untested")}
	for _, own := range []bool{false, true} {
		c := &campaign{config: config{own: own}, workspace: &workspace{packages: []*pkg{user, tested, untested}}}
		all := []*pkg{tested, user}
		if own {
			all = all[:1]
		}
		if got := c.judgesAmong(tested); !slices.Equal(got, all) {
			t.Errorf("own %v: %d judges, want %d", own, len(got), len(all))
		}
		if got := c.judgesAmong(untested); !slices.Equal(got, []*pkg{user}) {
			t.Errorf("own %v: %d judge a package without tests", own, len(got))
		}
	}
}

func TestAnEquivalentNamesOneMutantOrAllOfAKind(t *testing.T) {
	made := func(in, old string, nth int) *mutant {
		return &mutant{change: change{folder: "core", in: in, kind: changeConstant, old: old, new: "2", nth: nth}}
	}
	mutants := []*mutant{made("size", "1", 1), made("size", "1", 2), made("size", "3", 0), made("other", "1", 0)}
	named := func(in, old string, nth int) equivalent {
		e := equivalent{change{folder: "core", in: in, kind: changeConstant, old: old, nth: nth}, "a reason"}
		if old != "" {
			e.new = "2"
		}
		return e
	}
	cases := map[string]struct {
		named []equivalent
		want  []int // of the mutants
		err   string
	}{
		"one":                  {[]equivalent{named("size", "3", 0)}, []int{2}, ""},
		"one of two":           {[]equivalent{named("size", "1", 2)}, []int{1}, ""},
		"all of a kind":        {[]equivalent{named("size", "", 0)}, []int{0, 1, 2}, ""},
		"several that match":   {[]equivalent{named("size", "1", 0)}, nil, "set nth from 1 to 2"},
		"none":                 {[]equivalent{named("size", "4", 0)}, nil, "matches no mutant"},
		"none of a kind":       {[]equivalent{named("gone", "", 0)}, nil, "the function has none of this kind"},
		"one twice":            {[]equivalent{named("size", "3", 0), named("size", "", 0)}, []int{0, 1, 2}, "named twice"},
		"one without a reason": {[]equivalent{{change: named("size", "3", 0).change}}, []int{2}, "needs a reason"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			equal, err := equivalentsAmong(c.named, mutants)
			if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			var got []int
			for i, m := range mutants {
				if equal[m] {
					got = append(got, i)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("equivalent are %v, want %v", got, c.want)
			}
		})
	}
}

func campaignReport(t *testing.T, c config) (text string, good bool) {
	t.Helper()
	run, err := prepare(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	good = run.report(&b, true)
	return limit.ReplaceAllString(b.String(), "ran for more than 3s"), good
}

// limit is how long a mutant may take, which depends on the machine.
var limit = regexp.MustCompile(`ran for more than \d+s`)

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; if this is meant, run go test ./mutation -update in test (-want +got):\n%s", file, diff)
	}
}
