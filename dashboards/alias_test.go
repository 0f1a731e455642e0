package dashboards

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/promcheck"
	"github.com/leaderscope/leaderscope/internal/promeval"
	"github.com/leaderscope/leaderscope/internal/query"
)

func TestC25TheTableShowsAliasesWhereTheyAreAskedFor(t *testing.T) {
	cfg := Default()
	cfg.Aliases = true
	out, err := Overview(cfg)
	if err != nil {
		t.Fatal(err)
	}
	expr := decoded(t, out).panel(panel.Locks).expr("Alias")
	for _, problem := range promcheck.Expr(expr, promcheck.Foreign(query.AliasSeries)) {
		t.Error(problem)
	}
	var series []promeval.Series
	for _, name := range []string{"k1:a", "k1:b"} {
		series = append(series, lock{name: name, mode: "hold", active: [2]string{on, off}}.series()...)
	}
	series = append(series, promeval.Series{Selector: query.AliasSeries + `{lock_name="k1:a",alias="billing"}`, Values: on})
	store, err := promeval.Load(series, 30*time.Second, promeval.V3)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := store.Query(t.Context(), allChosen(expr), time.Unix(0, 0).Add(10*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, row := range rows {
		got[row.Metric.Get("lock_name")] += row.Metric.Get(query.AliasLabel)
	}
	if diff := cmp.Diff(map[string]string{"k1:a": "billing", "k1:b": "k1:b"}, got); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

func TestNoAliasIsAskedForByDefault(t *testing.T) {
	for name, build := range boards {
		out, err := build(Default())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(out), query.AliasSeries) {
			t.Errorf("%s reads %s", name, query.AliasSeries)
		}
	}
}

func TestAliasesNeedALabelOfTheirOwn(t *testing.T) {
	cfg := Default()
	cfg.Aliases, cfg.Scope.Labels = true, append(cfg.Scope.Labels, query.AliasLabel)
	if err := cfg.Validate(); err == nil || err.Error() != "aliases: alias is among scope.labels, where the column would hide it; remove it there, or use aliases: false" {
		t.Errorf("got %v", err)
	}
}
