package main

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

func TestEveryMetricHasAnExpressionThatReadsItByLabelsThatItHas(t *testing.T) {
	for _, m := range catalog.All() {
		expr, err := parser.NewParser(parser.Options{}).ParseExpr(start(m))
		if err != nil {
			t.Errorf("%s: %q: %v", m.Name(), start(m), err)
			continue
		}
		reads := false
		parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
			if v, ok := n.(*parser.VectorSelector); ok {
				found, known := catalog.ByName(v.Name)
				reads = reads || found == m
				if !known {
					t.Errorf("%s: %s is no metric", m.Name(), v.Name)
				}
			}
			if a, ok := n.(*parser.AggregateExpr); ok {
				for _, l := range a.Grouping {
					if _, has := m.Label(l); !has && l != catalog.LockName.Name() && l != "le" {
						t.Errorf("%s: grouped by %s, which it has not", m.Name(), l)
					}
				}
			}
			return nil
		})
		if !reads {
			t.Errorf("%s: %q does not read it", m.Name(), start(m))
		}
	}
}

func TestThePageIsTheOneInDocs(t *testing.T) {
	found, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(found, page()) {
		t.Errorf("docs/metrics.md is old; run make generate (-docs +generated):\n%s", cmp.Diff(string(found), string(page())))
	}
}

func TestMetricsThatRulesCannotDoWithoutAreStable(t *testing.T) {
	experimental := []*catalog.Metric{catalog.PendingAge, catalog.FencingToken, catalog.FencingHighestToken, catalog.BackendToken, catalog.BackendPollInterval}
	for _, m := range catalog.All() {
		if got, want := stability(m) == catalog.Experimental, slices.Contains(experimental, m); got != want {
			t.Errorf("%s: experimental is %v", m.Name(), got)
		}
	}
}
