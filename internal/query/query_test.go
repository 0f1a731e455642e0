package query

import (
	"testing"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

func TestPrettyPrintsWhatThePartsMean(t *testing.T) {
	s := Scope{Labels: []string{"job", "lock_name"}, Holder: "instance", Matchers: []Matcher{Matches("job", "a|b")}}
	active := s.By("max", s.Metric(catalog.Active, SingleLock()))
	cases := map[string]struct {
		in   Expr
		want string
	}{
		"scope matchers and quotes": {s.Metric(catalog.Active, Equal("x", `a"b`)), `leader_active{job=~"a|b",x="a\"b"}`},
		"needless parentheses go": {Op(Op(active, "==", Number(0)), "unless on (job)", Op(Selector("up"), "==", "0")),
			"  max by (job, lock_name) (leader_active{job=~\"a|b\",lock_name!~\"|redacted|overflow|.*[*].*\"}) == 0\nunless on (job)\n  up == 0"},
		"needed parentheses stay": {Op(Op("a", "+", "b"), "*", Op("c", "-", Op("d", "-", "e"))), "(a + b) * (c - (d - e))"},
		"grafana intervals stay":  {Over("rate", s.Metric(catalog.Attempts), "$__rate_interval"), `rate(leader_attempts_total{job=~"a|b"}[$__rate_interval])`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Pretty(c.in)
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestParseNamesTheBrokenExpression(t *testing.T) {
	if _, err := Pretty("sum by ("); err == nil {
		t.Fatal("want an error")
	}
}
