package electtest

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"slices"
	"strconv"
	"testing"
)

// rulesOfTheCore are about what the core does: no adapter can break them.
var rulesOfTheCore = []rule{ruleAgreement, ruleBooks, ruleNil, ruleLeaseEnd}

func TestEachRuleIsBrokenByAFault(t *testing.T) {
	broken := slices.Clone(rulesOfTheCore)
	for _, m := range slices.Concat(mutants, campaignMutants) {
		broken = append(broken, m.rule)
	}
	for _, r := range rulesIn(t, "rule.go") {
		if !slices.Contains(broken, r) {
			t.Errorf("no fault breaks the rule %q", r)
		}
	}
}

// rulesIn are the constants of a file.
func rulesIn(t *testing.T, file string) (rules []rule) {
	t.Helper()
	f, err := parser.ParseFile(gotoken.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == gotoken.STRING {
			text, err := strconv.Unquote(l.Value)
			if err != nil {
				t.Fatal(err)
			}
			rules = append(rules, rule(text))
		}
		return true
	})
	return rules
}
