package main

import (
	"log/slog"
	"os"
	"path/filepath"
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
