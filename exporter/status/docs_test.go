package status

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

func docs(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../docs/status.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// rows are the rows of the table with that first heading, in code quotes.
func rows(text, heading string) (all []string) {
	_, text, _ = strings.Cut(text, "\n| `"+heading+"` | meaning |\n|---|---|\n")
	text, _, _ = strings.Cut(text, "\n\n")
	return strings.Split(text, "\n")
}

func TestTheDocumentSaysWhatStatesAndCausesMean(t *testing.T) {
	var states, causes []string
	for s, text := range stateText {
		states = append(states, fmt.Sprintf("| `%s` | %s |", state(s), text))
	}
	label, _ := catalog.TermsEnded.Label("cause")
	for _, cause := range label.Values() {
		causes = append(causes, fmt.Sprintf("| `%s` | %s |", cause, causeText[cause]))
	}
	text := docs(t)
	if diff := cmp.Diff(states, rows(text, "state")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(causes, rows(text, "cause")); diff != "" {
		t.Error(diff)
	}
}

// Every field of a status that shows everything is in the document.
func TestTheDocumentNamesEveryField(t *testing.T) {
	var keys []string
	for _, file := range []string{"status.json", "lock.json"} {
		b, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, keysOf(v)...)
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	_, text, _ := strings.Cut(docs(t), "\n## The JSON\n")
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(text, -1) {
		named[m[1]] = true
	}
	for _, key := range keys {
		if !named[key] {
			t.Errorf("docs/status.md does not name the field %s", key)
		}
	}
	if want := 36; len(keys) != want {
		t.Errorf("%d fields are compared, want %d: %v", len(keys), want, keys)
	}
}

func keysOf(v any) (keys []string) {
	switch v := v.(type) {
	case map[string]any:
		keys = slices.Collect(maps.Keys(v))
		for _, inner := range v {
			keys = append(keys, keysOf(inner)...)
		}
	case []any:
		for _, inner := range v {
			keys = append(keys, keysOf(inner)...)
		}
	}
	return keys
}

func TestTheDocumentGivesTheNumbersOfTheCode(t *testing.T) {
	text := docs(t)
	for _, want := range []string{
		fmt.Sprintf("| `WithTerms(n)` | %d | number of ended terms that are kept for each label, 1 to %d.", DefaultTerms, MaxTerms),
		fmt.Sprintf("| `WithRefresh(d)` | %.0f s |", DefaultRefresh.Seconds()),
		fmt.Sprintf("an answer has at most %d locks", PageSize),
		fmt.Sprintf("interval at which the page reloads, 0 to %d;", maxRefresh),
		fmt.Sprintf("the earliest lease end first, at most %d:", MaxOpenTerms),
		fmt.Sprintf("| `schema` | %d |", schemaVersion),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("docs/status.md does not say %q", want)
		}
	}
}
