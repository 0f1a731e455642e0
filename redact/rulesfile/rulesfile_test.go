package rulesfile_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/redact"
	"github.com/leaderscope/leaderscope/redact/rulesfile"
)

const secret = "alice@example.com"

func TestRulesOfAFileAreThoseOfTheProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.yaml")
	text := `# what may be read
rules:
  - exact: [daily-report, "42"]
  - exact:
      - payroll
    policy: constant
  - template: tenant-{id}/orders
    policy: hash
  - template: "shard-{n}"
    policy: raw
  - template: "{user}@example.com"
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	rules, err := rulesfile.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	policy := func(rules ...redact.Rule) *redact.Policy {
		p, err := redact.Hash([]byte("0123456789abcdef0123456789abcdef"), "k1", rules...)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	read := policy(rules...)
	written := policy(redact.Exact("daily-report", "42"), redact.Exact("payroll").Constant(),
		redact.Template("tenant-{id}/orders").Hashed(), redact.Template("shard-{n}").Raw(), redact.Template("{user}@example.com"))
	for _, name := range []string{"daily-report", "42", "payroll", "tenant-42/orders", "shard-7", secret, "else"} {
		if diff := cmp.Diff(written.Label(name), read.Label(name)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAFaultyFileIsOneErrorWithItsLineAndWithoutNames(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"empty file", "", "rules.yaml: rules: is missing or empty; list rules with exact or template"},
		{"no rules", "rules: []\n", "rules.yaml:1:8: rules: is missing or empty; list rules with exact or template"},
		{"unknown key at the top", "rules:\n  - exact: [a]\nkeys: 1\n", "rules.yaml:3:1: unknown key; there are rules"},
		{"unknown key in a rule", "rules:\n  - exact: [a]\n    polcy: hash\n", "rules.yaml:3:5: rules[0]: unknown key; there are exact, template, policy"},
		{"a list for a template", "rules:\n  - template: [" + secret + "]\n", "rules.yaml:2:15: rules[0].template: is no text; a name that looks like a number or a word of YAML goes in quotes"},
		{"a text for a list", "rules:\n  - exact: " + secret + "\n", "rules.yaml:2:12: rules[0].exact: is no list of names; write it as [name, name]"},
		{"a rule of both kinds", "rules:\n  - exact: [a]\n  - exact: [b]\n    template: x-{y}\n", "rules.yaml:3:5: rules[1]: has both exact and template; make two rules of it"},
		{"a rule of no kind", "rules:\n  - policy: hash\n", "rules.yaml:2:5: rules[0]: covers no name; give it exact, a list of names, or template"},
		{"a policy that is none", "rules:\n  - exact: [a]\n    policy: " + secret + "\n", "rules.yaml:3:13: rules[0].policy: is none of constant, hash, raw"},
		{"a name for a template", "rules:\n\n  - template: " + secret + "\n", "rules.yaml:3:15: rules[0].template: the template has no {variable}; a fixed name is an exact rule"},
		{"a name twice", "rules:\n  - exact: [a]\n  - exact: [b, a]\n", "rules.yaml:3:16: rules[1].exact[1]: this name is covered by rules[0] already"},
		{"a key twice", "rules:\n  - exact: [a]\n    exact: [b]\n", "rules.yaml:3:5: this key is there twice"},
		{"two documents", "rules:\n  - exact: [a]\n---\nrules:\n  - exact: [b]\n", "rules.yaml:4:1: a second document; put everything into the first"},
		{"no YAML", "rules:\n  - exact: [" + secret + "\n", "rules.yaml:2:12: this is no YAML that rules can be read from"},
		{"a number for a name", "rules:\n  - exact: [a, 42]\n", "rules.yaml:2:16: rules[0].exact[1]: is no text; a name that looks like a number or a word of YAML goes in quotes"},
		{"an alias", "rules:\n  - exact: [&a b]\n", "rules.yaml:2:13: rules[0].exact[0]: tags, anchors and aliases are not read; write the text out"},
		{"no mapping", "- exact: [a]\n", "rules.yaml:1:1: has no keys; there are rules"},
		{"no list", "rules: {exact: [a]}\n", "rules.yaml:1:9: rules: is no list"},
		{"a tab", "rules:\n\t- exact: [a]\n", "rules.yaml:2:1: this is no YAML that rules can be read from"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := rulesfile.Parse("rules.yaml", []byte(c.text))
			var bad *rulesfile.Error
			if !errors.As(err, &bad) {
				t.Fatalf("error %v is no *Error", err)
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := rulesfile.Load("none.yaml"); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("a missing file is %v", err)
	}
}

// The schema has no reader of its own here; what it lists must be what Parse
// takes.
func TestTheSchemaListsTheKeysAndPoliciesThatAreRead(t *testing.T) {
	var schema struct {
		Properties map[string]struct {
			Items struct {
				Properties map[string]struct {
					Type string
					Enum []string
				}
			}
		}
	}
	if err := json.Unmarshal(rulesfile.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	rule := schema.Properties["rules"].Items.Properties
	values := map[string]string{"exact": "[a]", "template": "'x-{y}'", "policy": "raw"}
	for key := range rule {
		if values[key] == "" {
			t.Errorf("the schema has a key %s", key)
		}
	}
	for key, value := range values {
		text := "rules:\n  - " + key + ": " + value + "\n"
		if key == "policy" {
			text += "    exact: [a]\n"
		}
		if _, err := rulesfile.Parse("f", []byte(text)); err != nil || rule[key].Type == "" {
			t.Errorf("key %s: %v, type %q", key, err, rule[key].Type)
		}
	}
	if diff := cmp.Diff([]string{redact.ModeConstant, redact.ModeHash, redact.ModeRaw}, slices.Sorted(slices.Values(rule["policy"].Enum))); diff != "" {
		t.Error(diff)
	}
}

func FuzzAnyFileIsRulesOrAnErrorWithItsPlace(f *testing.F) {
	for _, s := range []string{"", "rules:\n- exact: [a]\n", "rules:\n- &a {template: 'x-{y}'}\n- *a\n", "rules:\n- <<: *a\n", "{}", "- 1", "rules: !!binary x", "rules:\n- null\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rules, err := rulesfile.Parse("f", data)
		var bad *rulesfile.Error
		if err != nil && !errors.As(err, &bad) || err == nil && len(rules) == 0 {
			t.Errorf("%d rules, error %v", len(rules), err)
		}
		for _, r := range rules {
			if r.Err() != nil {
				t.Errorf("a malformed rule got through: %v", r.Err())
			}
		}
	})
}
