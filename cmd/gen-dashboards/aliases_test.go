package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

func TestC25PrometheusLoadsTheRulesOfAliases(t *testing.T) {
	name := filepath.Join(t.TempDir(), "aliases.yaml")
	text := "k1:937c429ef80d3ee9: 'it''s: {{ $labels.x }}'\n\"yes\": \"null\"\nk2:0123456789abcdef: Überweisung\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	aliases, err := loadAliases(name)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := aliasRules(aliases)
	if err != nil {
		t.Fatal(err)
	}
	groups, errs := rulefmt.Parse(rules, false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	got := map[string]string{}
	for _, r := range groups.Groups[0].Rules {
		got[r.Labels["lock_name"]] = r.Labels["alias"]
	}
	if len(got) != 3 {
		t.Errorf("got %v", got)
	}
	for label, alias := range aliases {
		if got[label] != alias {
			t.Errorf("label %s has alias %q, want %q", label, got[label], alias)
		}
	}
}

func TestEveryErrorOfAMappingIsReported(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"several lines": {"k1: a@b\nk2: fine\nk2: again\n'': x\nk3: 42\nk4: [a]\n",
			"f:1:1: the alias contains an @; the label exists to hide addresses, so use another alias\n" +
				"f:3:1: duplicate label; keep one of them\n" +
				"f:4:1: this is not a label; labels are texts of at most 128 bytes without control characters\n" +
				"f:5:1: the alias is not printable text; write numbers in quotes\n" +
				"f:6:1: the alias is not printable text; write numbers in quotes"},
		"nothing":                 {"", "f: no aliases; write them as label: alias"},
		"an empty mapping":        {"{}\n", "f: no aliases; write them as label: alias"},
		"a list":                  {"- a\n", "f:1:1: this is not a mapping of labels to aliases; write it as label: alias"},
		"an alias of YAML":        {"a: &x b\nc: *x\n", "f:2:1: the alias is not printable text; write numbers in quotes"},
		"Latin-1":                 {"a: \xf6\n", "f: the file is not in UTF-8; save it as UTF-8"},
		"broken YAML":             {"a: [\n", "f: line 1: did not find expected node content; correct the YAML there"},
		"a second document":       {"a: b\n---\nc: d\n", "f:3:1: this is a second YAML document; put everything into the first"},
		"a second that is broken": {"a: b\n---\nc: [\n", "f: line 3: did not find expected node content; correct the YAML there"},
		"many":                    {strings.Repeat("a: b@c\n", maxReported+2), manyErrors()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := os.WriteFile("f", []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := loadAliases("f")
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// manyErrors are those of one line that is there too often.
func manyErrors() string {
	lines := []string{"f:1:1: the alias contains an @; the label exists to hide addresses, so use another alias"}
	for i := 2; i <= maxReported; i++ {
		lines = append(lines, fmt.Sprintf("f:%d:1: duplicate label; keep one of them", i))
	}
	return strings.Join(append(lines, "f: 2 more errors; fix the errors above first"), "\n")
}
