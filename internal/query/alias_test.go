package query_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/internal/promeval"
	"github.com/leaderscope/leaderscope/internal/query"
)

func TestC25AliasesAreShownAndNoLockIsLostOrDoubled(t *testing.T) {
	var locks []promeval.Series
	for _, lock := range []string{"k1:a", "k1:b", "k1:c", "k1:d", "k1:e"} {
		for _, replica := range []string{"i1", "i2"} {
			locks = append(locks, promeval.Series{Selector: `leader_active{instance="` + replica + `",lock_name="` + lock + `"}`, Values: "1x4"})
		}
	}
	aliases := func(server string) []promeval.Series {
		return []promeval.Series{
			{Selector: query.AliasSeries + `{lock_name="k1:a",alias="billing"` + server + `}`, Values: "1x4"},
			{Selector: query.AliasSeries + `{lock_name="k1:d",alias="mail"` + server + `}`, Values: "1x4"},
		}
	}
	hashes := map[string]float64{"k1:a": 2, "k1:b": 2, "k1:c": 2, "k1:d": 2, "k1:e": 2}
	aliased := map[string]float64{"billing": 2, "k1:b": 2, "k1:c": 2, "mail": 2, "k1:e": 2}
	cases := map[string]struct {
		series []promeval.Series
		want   map[string]float64
	}{
		"no aliases":                   {locks, hashes},
		"aliases of two locks":         {append(locks, aliases("")...), aliased},
		"two servers record them both": {append(append(locks, aliases(`,replica="a"`)...), aliases(`,replica="b"`)...), aliased},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			store, err := promeval.Load(c.series, 15*time.Second, promeval.V3)
			if err != nil {
				t.Fatal(err)
			}
			expr := query.Aliased(query.By("sum", []string{"lock_name"}, "leader_active"))
			got, err := store.Query(t.Context(), string(expr), time.Unix(60, 0))
			if err != nil {
				t.Fatal(err)
			}
			shown := map[string]float64{}
			for _, s := range got {
				shown[s.Metric.Get(query.AliasLabel)] += s.F
			}
			if diff := cmp.Diff(c.want, shown); diff != "" || len(got) != 5 {
				t.Errorf("%d series; want -, got +\n%s", len(got), diff)
			}
		})
	}
}
