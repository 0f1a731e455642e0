//go:build unix

package stagetest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// LikeItsREADME fails the test where a program prints other lines than the last
// block of its README shows. Numbers, durations, ports, labels, the names of nodes,
// the order of lines and how often a line comes may differ, because they do from run
// to run.
func LikeItsREADME(t *testing.T, printed string) {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := lastBlock(string(readme))
	if shown == "" {
		t.Fatal("README.md has no block of output")
	}
	if diff := cmp.Diff(shapes(shown), shapes(printed)); diff != "" {
		t.Errorf("README.md (-) shows what the program does not print (+): put the new output there\n%s\n%s", diff, printed)
	}
}

// lastBlock is the last fenced block of a page.
func lastBlock(page string) string {
	parts := strings.Split("\n"+page, "\n```")
	if len(parts) < 3 || len(parts)%2 == 0 {
		return ""
	}
	_, block, _ := strings.Cut(parts[len(parts)-2], "\n")
	return block
}

// What differs from run to run, in the order in which it is replaced.
var varying = []struct {
	what *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`\bk1:[0-9a-f]{16}\b`), "<label>"},
	{regexp.MustCompile(`\b(node|instance)-[0-9a-z]\b`), "<$1>"},
	{regexp.MustCompile(`\b127\.0\.0\.1:[0-9]+`), "<address>"},
	// A number that is no part of a word, with its unit; a cell without one.
	{regexp.MustCompile(`(^|[ (])(-|-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?(ms|s)?)($|[ ),.;:])`), "$1#$6"},
}

// shapes are the different lines of a text, sorted, with a sign in place of what
// differs from run to run.
func shapes(text string) (all []string) {
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), "  ") // two, so that no number takes the space of the next
		for _, v := range varying {
			line = v.what.ReplaceAllString(line, v.by)
		}
		if line = strings.Join(strings.Fields(line), " "); line != "" && !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	slices.Sort(all)
	return all
}
