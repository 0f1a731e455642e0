package alerts

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/promeval"
	"github.com/leaderscope/leaderscope/internal/scenario"
)

func sourced(s Source) Config {
	c := Default()
	c.Source = s
	return c
}

func TestRulesOnForeignSeriesFireAndStaySilent(t *testing.T) {
	for _, source := range Sources()[1:] {
		all := scenario.Foreign(string(source))
		rules := rulesOf(t, sourced(source))
		fired := map[string]bool{}
		for _, s := range all {
			t.Run(s.Title(), func(t *testing.T) {
				for _, line := range strings.Split(s.Want, "\n") {
					name, _, _ := strings.Cut(line, "/")
					fired[Prefix+name] = true
				}
				series, err := s.Series(scenario.Form{HolderLabel: "instance"})
				if err != nil {
					t.Fatal(err)
				}
				got, err := s.Fire(t.Context(), evaluated(rules), series, promeval.V3)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(s.Want, scenario.Describe(got)); diff != "" {
					t.Errorf("want -, got +\n%s", diff)
				}
				for _, f := range got {
					for key, text := range f.Annotations {
						if strings.Contains(text, "<no value>") || strings.Contains(text, "<error") || strings.Contains(text, "  ") || strings.Contains(text, "FOR") {
							t.Errorf("%s: %q", key, text)
						}
					}
				}
			})
		}
		for _, r := range rules {
			if !fired[r.Name] {
				t.Errorf("no scenario of %s makes %s fire", source, r.Name)
			}
		}
	}
}

// A foreign source reads none of the series of this project, whose meaning
// it has not.
func TestRulesOnForeignSeriesReadNoneOfOurs(t *testing.T) {
	for _, source := range Sources()[1:] {
		for _, r := range rulesOf(t, sourced(source)) {
			parsed, err := parser.NewParser(parser.Options{}).ParseExpr(r.Expr)
			if err != nil {
				t.Fatal(err)
			}
			parser.Inspect(parsed, func(n parser.Node, _ []parser.Node) error {
				if v, ok := n.(*parser.VectorSelector); ok {
					if _, ours := catalog.ByName(v.Name); ours {
						t.Errorf("%s of %s reads %s", r.Name, source, v.Name)
					}
				}
				return nil
			})
		}
	}
}

// Each alert is either possible or not, and it says why.
func TestEverySourceSpeaksOfEveryAlert(t *testing.T) {
	for _, source := range Sources()[1:] {
		c := sourced(source)
		all, err := Possibilities(c)
		if err != nil {
			t.Fatal(err)
		}
		var names, want []string
		c.Alerts.each(func(_ string, a alert) { want = append(want, a.about().Alert) })
		possible := map[string]bool{}
		for _, p := range all {
			names = append(names, p.Alert)
			possible[Prefix+p.Alert] = p.Yes
			if p.Why == "" || p.Yes && p.Latest <= 0 || !p.Yes && p.Latest != 0 {
				t.Errorf("%s: want a reason, and a time only of a possible alert: %+v", source, p)
			}
			if _, both := impossible[source][p.Alert]; both == p.Yes {
				t.Errorf("%s: alerts/foreign.go needs either a rule for %s in foreignRules or, in impossible, why there is none; not both", source, p.Alert)
			}
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("%s: want -, got +\n%s", source, diff)
		}
		for _, r := range rulesOf(t, c) {
			if !possible[r.Name] {
				t.Errorf("%s has a rule %s, which is said to be impossible", source, r.Name)
			}
		}
		for name := range impossible[source] {
			if !slices.Contains(want, name) {
				t.Errorf("%s: there is no alert %s", source, name)
			}
		}
	}
}

func TestAForeignSourceThatCannotWorkIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"an unknown source":     {func(c *Config) { c.Source = "etcd" }, `source: "etcd" is not a known source; use leaderscope, client-go or kube-state-metrics`},
		"no time":               {func(c *Config) { c.KubeStateMetrics.StaleAfter = 0 }, "kubeStateMetrics.staleAfter: 0s is not a positive duration; use one that is longer than every lease, such as 90s"},
		"recording of a source": {func(c *Config) { c.Source, c.Recording = ClientGo, true }, "recording: source client-go has no recording rules; use recording: false"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := Default()
			c.change(&cfg)
			if err := cfg.Validate(); err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}
