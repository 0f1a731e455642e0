package alerts

import (
	"context"
	"reflect"
	"time"

	"github.com/leaderscope/leaderscope/alerts/internal/unittest"
	"github.com/leaderscope/leaderscope/internal/promeval"
	"github.com/leaderscope/leaderscope/internal/scenario"
)

// PromtoolTests returns the scenarios of the source as unit tests of promtool for
// the rules that [YAML] makes of the same configuration, found at a path relative to the
// tests. What each scenario must cause is worked out for the configuration; for
// the default one it is what the scenarios demand. The tests look where
// Prometheus 2 and 3 agree, so they hold for the promtool of both. The error is
// that of [Config.Validate], or says that no series could be made to match the
// selector.
func PromtoolTests(c Config, rulesFile string) ([]byte, error) {
	table := scenario.All()
	if c.Source.Foreign() {
		table = scenario.Foreign(string(c.Source))
	}
	return unitTests(unittest.Promtool, c, rulesFile, scenario.Everywhere(table))
}

// VMAlertTests are the tests of [PromtoolTests] for vmalert-tool unittest of
// VictoriaMetrics. Where its engine gives another verdict under the default
// configuration, that verdict is tested; under any other configuration such a
// scenario is left out. Texts that show increases are not tested, for MetricsQL
// does not extrapolate them.
func VMAlertTests(c Config, rulesFile string) ([]byte, error) {
	return unitTests(unittest.VMAlertTool, c, rulesFile, scenario.ForVictoriaMetrics(scenario.All(), reflect.DeepEqual(c, Default())))
}

func unitTests(tool unittest.Tool, c Config, rulesFile string, table []scenario.Scenario) ([]byte, error) {
	rules, err := Rules(c)
	if err != nil {
		return nil, err
	}
	s := unittest.Suite{Tool: tool, RulesFile: rulesFile, SeverityLabel: c.SeverityLabel, VariantLabel: variantLabel}
	if s.Form, err = c.form(); err != nil {
		return nil, err
	}
	for _, g := range grouped(c, rules) {
		s.Groups = append(s.Groups, unittest.Group{Name: g.name, Rules: evaluated(g.rules)})
	}
	file, err := s.Write(context.Background(), table)
	if err != nil {
		return nil, err
	}
	return encode(tool.Format, file)
}

// form is how series of scenarios must look to be read.
func (c Config) form() (scenario.Form, error) {
	matchers, err := parseMatchers(c.Selector)
	if err != nil {
		return scenario.Form{}, err
	}
	labels, err := scenario.Example(matchers)
	return scenario.Form{MetricPrefix: c.MetricPrefix, HolderLabel: c.HolderLabel, Labels: labels}, err
}

func (r Rule) evaluated() promeval.Rule {
	return promeval.Rule{
		Name: r.Name, Expr: r.Expr, For: time.Duration(r.For), KeepFiringFor: time.Duration(r.KeepFiringFor),
		Labels: r.Labels, Annotations: r.Annotations,
	}
}

func evaluated(rules []Rule) []promeval.Rule {
	out := make([]promeval.Rule, len(rules))
	for i, r := range rules {
		out[i] = r.evaluated()
	}
	return out
}
