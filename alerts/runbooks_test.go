package alerts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/internal/promcheck"
)

func TestEveryRuleHasARunbookWithItsHeadings(t *testing.T) {
	headings := []string{"## Meaning", "## Impact", "## Diagnosis", "## Mitigation", "## False alarms", "## Tuning", "## Limits"}
	for _, r := range rulesOf(t, Default()) {
		var got []string
		for line := range strings.Lines(runbook(t, r)) {
			if strings.HasPrefix(line, "#") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		if diff := cmp.Diff(append([]string{"# " + r.Name}, headings...), got); diff != "" {
			t.Errorf("%s: want -, got +\n%s", r.Name, diff)
		}
		if !strings.HasSuffix(r.Annotations["runbook_url"], "/alerts/runbooks/"+r.Name+".md") {
			t.Errorf("%s: runbook_url %s", r.Name, r.Annotations["runbook_url"])
		}
	}
}

func TestTheReadmeListsEveryAlert(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rulesOf(t, Default()) {
		if link := "](runbooks/" + r.Name + ".md)"; !strings.Contains(string(text), link) {
			t.Errorf("README.md has no link %s", link)
		}
	}
}

func TestQueriesOfTheRunbooksPassTheStaticChecks(t *testing.T) {
	for _, r := range rulesOf(t, Default()) {
		queries := queriesOf(runbook(t, r))
		if len(queries) == 0 {
			t.Errorf("%s has no query to run", r.Name)
		}
		for _, q := range queries {
			for _, problem := range promcheck.Expr(q, promcheck.AcrossLocks()) {
				t.Errorf("%s: %v", r.Name, problem)
			}
		}
	}
}

// queriesOf returns the queries in the fenced blocks: one a line, continued
// on lines that are indented further.
func queriesOf(text string) (queries []string) {
	inside, indent := false, 0
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		depth := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case strings.HasPrefix(trimmed, "```"):
			inside, indent = trimmed == "```promql", depth
		case inside && depth > indent:
			queries[len(queries)-1] += " " + trimmed
		case inside:
			queries = append(queries, trimmed)
		}
	}
	return queries
}

func runbook(t *testing.T, r Rule) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("runbooks", r.Name+".md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
