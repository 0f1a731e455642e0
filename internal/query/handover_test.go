package query_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/internal/promeval"
	"github.com/leaderscope/leaderscope/internal/query"
)

func TestTheGapOfAHandoverIsFromTheEndBeforeToTheLastWin(t *testing.T) {
	const won, ended = "leader_last_acquired_timestamp_seconds", "leader_last_ended_timestamp_seconds"
	scope := query.Scope{Labels: []string{"lock_name"}, Holder: "instance"}
	cases := map[string]struct {
		series map[string]string // by metric and instance
		want   []float64
	}{
		"nobody has led yet":                              {map[string]string{}, nil},
		"the first leader has none before it":             {map[string]string{won + "|i1": "10"}, nil},
		"another wins 3 s later":                          {map[string]string{won + "|i1": "10", ended + "|i1": "20", won + "|i2": "23"}, []float64{3}},
		"another wins 3 s earlier":                        {map[string]string{won + "|i1": "10", ended + "|i1": "26", won + "|i2": "23"}, []float64{-3}},
		"a short term within a long one":                  {map[string]string{won + "|i1": "10", ended + "|i1": "90", won + "|i2": "23", ended + "|i2": "30"}, []float64{-67}},
		"the same replica wins again":                     {map[string]string{won + "|i1": "30", ended + "|i1": "20"}, []float64{10}},
		"it wins again after another led long ago":        {map[string]string{won + "|i1": "30", ended + "|i1": "20", won + "|i2": "5", ended + "|i2": "8"}, []float64{10}},
		"it wins back from another":                       {map[string]string{won + "|i1": "30", ended + "|i1": "8", won + "|i2": "10", ended + "|i2": "25"}, []float64{5}},
		"the leader before died without a word":           {map[string]string{won + "|i1": "10", won + "|i2": "23"}, nil},
		"it died, and had led and ended before":           {map[string]string{won + "|i1": "10", ended + "|i1": "5", won + "|i2": "23"}, nil},
		"of three replicas, the one before the last term": {map[string]string{won + "|i1": "10", ended + "|i1": "20", won + "|i2": "21", ended + "|i2": "30", won + "|i3": "32"}, []float64{2}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			series := []promeval.Series{{Selector: `leader_active{lock_name="x",instance="i1"}`, Values: "1"}}
			for key, value := range c.series {
				metric, instance, _ := strings.Cut(key, "|")
				series = append(series, promeval.Series{Selector: metric + `{lock_name="x",instance="` + instance + `"}`, Values: value})
			}
			store, err := promeval.Load(series, 15*time.Second, promeval.V3)
			if err != nil {
				t.Fatal(err)
			}
			got, err := store.Query(t.Context(), string(scope.Handover("5m").Gap()), time.Unix(100, 0))
			if err != nil {
				t.Fatal(err)
			}
			var values []float64
			for _, s := range got {
				values = append(values, s.F)
			}
			if diff := cmp.Diff(c.want, values); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}
