package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// wanted is the least score, in percent.
const wanted = 95

// String is one line about a verdict that is not a kill.
func (v verdict) String() string {
	text := fmt.Sprintf("%v: %s  %s  %s", v.fate, v.mutant.where(), v.mutant.in, v.mutant.kind)
	if v.mutant.nth > 0 {
		text += fmt.Sprintf(" (nth: %d)", v.mutant.nth)
	}
	if v.detail != "" {
		text += "  [" + v.detail + "]"
	}
	return text
}

// write shows a verdict and its change.
func (v verdict) write(w io.Writer) {
	fmt.Fprintf(w, "%v\n    - %s\n    + %s\n", v, v.mutant.old, v.mutant.new)
}

// tally counts verdicts by fate.
type tally [notCompiling + 1]int

// score is the share of the mutants with a clear verdict that were killed, in
// percent. A time-out is not clear: a slow machine gives it too.
func (t tally) score() float64 {
	if t[killed]+t[survived] == 0 {
		return 100
	}
	return 100 * float64(t[killed]) / float64(t[killed]+t[survived])
}

// report writes the result of a campaign, all verdicts or those that need a
// look, and reports whether it is good enough.
func (c *campaign) report(w io.Writer, all bool) (good bool) {
	verdicts := slices.Clone(c.verdicts)
	for _, s := range c.selections {
		verdicts = append(verdicts, s.notCompiling...)
	}
	slices.SortFunc(verdicts, func(a, b verdict) int {
		return cmp.Or(
			cmp.Compare(a.mutant.pkg.rel, b.mutant.pkg.rel),
			cmp.Compare(a.mutant.file.path, b.mutant.file.path),
			cmp.Compare(a.mutant.start, b.mutant.start),
			cmp.Compare(a.mutant.text, b.mutant.text),
		)
	})
	made, faults := split(verdicts)
	c.reportFaults(w, faults)
	total := c.reportPackages(w, made)
	for _, f := range []fate{survived, timedOut, notCompiling, killed} {
		if !all && (f == notCompiling || f == killed) {
			continue
		}
		for _, v := range made {
			if v.fate == f {
				v.write(w)
			}
		}
	}
	if c.remaining > 0 {
		fmt.Fprintf(w, "the budget of %v left out %d mutants\n", c.budget, c.remaining)
	}
	fmt.Fprintf(w, "score: %.1f %% of the mutants that neither timed out nor are equivalent were killed, want %d %%; seed %d\n",
		total.score(), wanted, c.seed)
	judged := c.remaining == 0 || len(c.verdicts) > 0
	return judged && total.score() >= wanted && !slices.ContainsFunc(faults, func(v verdict) bool { return v.fate == survived })
}

func split(verdicts []verdict) (made, faults []verdict) {
	for _, v := range verdicts {
		if v.mutant.what != "" {
			faults = append(faults, v)
		} else {
			made = append(made, v)
		}
	}
	return made, faults
}

func (c *campaign) reportFaults(w io.Writer, faults []verdict) {
	if len(faults) == 0 {
		return
	}
	fmt.Fprintln(w, "hand-written faults")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range faults {
		fate := v.fate.String()
		if v.fate == survived {
			fate = strings.ToUpper(fate)
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\n", v.mutant.what, fate, v.detail)
	}
	table.Flush()
	fmt.Fprintln(w)
}

func (c *campaign) reportPackages(w io.Writer, verdicts []verdict) (total tally) {
	byPackage := map[*pkg]*tally{}
	for _, v := range verdicts {
		if byPackage[v.mutant.pkg] == nil {
			byPackage[v.mutant.pkg] = &tally{}
		}
		byPackage[v.mutant.pkg][v.fate]++
		total[v.fate]++
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "mutants\tkilled\tsurvived\ttimed out\tequivalent\tnot compiling\tpossible\t  package\t")
	equal, possible := 0, 0
	for _, s := range c.selections {
		if len(s.made) == 0 {
			continue
		}
		row(table, cmp.Or(byPackage[s.pkg], &tally{}), s.equivalents, len(s.made), s.pkg.rel)
		equal += s.equivalents
		possible += len(s.made)
	}
	row(table, &total, equal, possible, "total")
	table.Flush()
	fmt.Fprintln(w)
	return total
}

func row(w io.Writer, t *tally, equal, possible int, name string) {
	fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t  %s\n",
		t[killed]+t[survived]+t[timedOut], t[killed], t[survived], t[timedOut], equal, t[notCompiling], possible, name)
}

// list writes every mutant that could be made.
func (c *campaign) list(w io.Writer) {
	for _, s := range c.selections {
		for _, m := range s.made {
			fmt.Fprintf(w, "%s  %s  %s", m.where(), m.in, m.kind)
			if m.nth > 0 {
				fmt.Fprintf(w, " (nth: %d)", m.nth)
			}
			fmt.Fprintf(w, "\n    - %s\n    + %s\n", m.old, m.new)
		}
	}
}
