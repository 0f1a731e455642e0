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
  - literals: true
    policy: hash
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
		p := redact.Hash([]byte("0123456789abcdef0123456789abcdef"), "k1", rules...)
		if err := p.Err(); err != nil {
			t.Fatal(err)
		}
		return p
	}
	read := policy(rules...)
	written := policy(redact.Exact("daily-report", "42"), redact.Literals().Hashed(), redact.Exact("payroll").Constant(),
		redact.Template("tenant-{id}/orders").Hashed(), redact.Template("shard-{n}").Raw(), redact.Template("{user}@example.com"))
	for _, name := range []string{"daily-report", "42", "payroll", "tenant-42/orders", "shard-7", secret, "else"} {
		want := []redact.Label{written.Label(name), written.Literal(name)}
		if diff := cmp.Diff(want, []redact.Label{read.Label(name), read.Literal(name)}); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAFaultyFileIsOneErrorWithItsLineAndWithoutNames(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"empty file", "", "rules.yaml: rules: is missing or empty; list rules with exact, template or literals"},
		{"nothing but comments", "# rules:\n---\n# none\n", "rules.yaml: rules: is missing or empty; list rules with exact, template or literals"},
		{"no rules", "rules: []\n", "rules.yaml:1:8: rules: is missing or empty; list rules with exact, template or literals"},
		{"rules without a value", "\nrules:\n", "rules.yaml:2:7: rules: is missing or empty; list rules with exact, template or literals"},
		{"unknown key at the top", "rules:\n  - exact: [a]\nkeys: 1\n", "rules.yaml:3:1: unknown key; valid keys: rules"},
		{"unknown key in a rule", "rules:\n  - exact: [a]\n    polcy: hash\n", "rules.yaml:3:5: rules[0]: unknown key; valid keys: exact, template, literals, policy"},
		{"a list for a template", "rules:\n  - template: [" + secret + "]\n", "rules.yaml:2:15: rules[0].template: is not a string; quote a name that YAML reads as a number or a keyword"},
		{"a text for a list", "rules:\n  - exact: " + secret + "\n", "rules.yaml:2:12: rules[0].exact: is no list of names; write it as [name, name]"},
		{"a rule of both kinds", "rules:\n  - exact: [a]\n  - exact: [b]\n    template: x-{y}\n", "rules.yaml:3:5: rules[1]: has more than one of exact, template and literals; make one rule of each"},
		{"literals and names", "rules:\n  - literals: true\n    exact: [b]\n", "rules.yaml:2:5: rules[0]: has more than one of exact, template and literals; make one rule of each"},
		{"a rule of no kind", "rules:\n  - policy: hash\n", "rules.yaml:2:5: rules[0]: covers no name; give it exact, a list of names, or template, or literals"},
		{"a policy that is none", "rules:\n  - exact: [a]\n    policy: " + secret + "\n", "rules.yaml:3:13: rules[0].policy: unknown policy; valid policies: constant, hash, raw"},
		{"literals that are false", "rules:\n  - literals: false\n", "rules.yaml:2:15: rules[0].literals: is not true; leave the rule out to let no constants through"},
		{"literals that are names", "rules:\n  - literals: [" + secret + "]\n", "rules.yaml:2:15: rules[0].literals: is not true; leave the rule out to let no constants through"},
		{"literals that are a text", "rules:\n  - literals: 'true'\n", "rules.yaml:2:15: rules[0].literals: is not true; leave the rule out to let no constants through"},
		{"literals with an anchor", "rules:\n  - literals: &a true\n", "rules.yaml:2:15: rules[0].literals: tags, anchors and aliases are not read; write the text out"},
		{"literals with an alias", "rules:\n  - exact: [b]\n    literals: *a\n", "rules.yaml:3: tags, anchors and aliases are not read; write the text out"},
		{"literals with a tag", "rules:\n  - literals: !!bool true\n", "rules.yaml:2:15: rules[0].literals: tags, anchors and aliases are not read; write the text out"},
		{"literals of another kind", "rules:\n  - literals: 1\n", "rules.yaml:2:15: rules[0].literals: is not true; leave the rule out to let no constants through"},
		{"a list for a policy", "rules:\n  - exact: [a]\n    policy: [raw]\n", "rules.yaml:3:13: rules[0].policy: is not a string; quote a name that YAML reads as a number or a keyword"},
		{"an anchor at a template", "rules:\n  - template: &a x-{y}\n", "rules.yaml:2:15: rules[0].template: tags, anchors and aliases are not read; write the text out"},
		{"an empty list of names", "rules:\n  - exact: []\n", "rules.yaml:2:12: rules[0].exact: is no list of names; write it as [name, name]"},
		{"a mapping for a list", "rules:\n  - exact: {a: b}\n", "rules.yaml:2:12: rules[0].exact: is no list of names; write it as [name, name]"},
		{"a rule that is a text", "rules:\n  - a\n", "rules.yaml:2:5: rules[0]: has no keys; valid keys: exact, template, literals, policy"},
		{"a text for the rules", "rules: a\n", "rules.yaml:1:8: rules: is no list"},
		{"an alias for a name", "rules:\n  - exact: [&a b, *a]\n", "rules.yaml:2:13: rules[0].exact[0]: tags, anchors and aliases are not read; write the text out"},
		{"a tag at a rule", "rules:\n  - !!map {exact: [a]}\n", "rules.yaml:2:5: rules[0]: tags, anchors and aliases are not read; write the text out"},
		{"a number for a key", "rules:\n  - 1: a\n", "rules.yaml:2:5: rules[0]: unknown key; valid keys: exact, template, literals, policy"},
		{"an unknown policy in the first rule", "rules:\n  - exact: [a]\n    policy: Hash\n  - exact: [a]\n", "rules.yaml:3:13: rules[0].policy: unknown policy; valid policies: constant, hash, raw"},
		{"no YAML on the first line", "]\nrules:\n  - exact: [a]\n  - exact: [b]\n", "rules.yaml:1: this cannot be read as YAML; the fault is on this line or near it"},
		{"no YAML on the second line", "rules:\n ]\n  - exact: [a]\n  - exact: [b]\n", "rules.yaml:2: this cannot be read as YAML; the fault is on this line or near it"},
		{"no YAML on the last line", "rules:\n  - exact: [a]\n]", "rules.yaml:3: this cannot be read as YAML; the fault is on this line or near it"},
		{"a list that never ends", "rules:\n  - exact: [a,\n  b,\n  c\n", "rules.yaml:2: this cannot be read as YAML; the fault is on this line or near it"},
		{"a list that ends with the file", "rules: [a", "rules.yaml:1: this cannot be read as YAML; the fault is on this line or near it"},
		{"a NUL behind a tab and a letter of two bytes", "rules: # \t\u00fc\r\n\x00", "rules.yaml:2:1: this is a control character; write it in double quotes, as in \"a\\x00b\""},
		{"a delete behind a letter of two bytes", "# \u00fc\x7f", "rules.yaml:1:4: this is a control character; write it in double quotes, as in \"a\\x00b\""},
		{"a replacement character is a text", "\ufffd\n", "rules.yaml:1:1: has no keys; valid keys: rules"},
		{"a quoted nothing", "''\n", "rules.yaml:1:1: has no keys; valid keys: rules"},
		{"an anchored nothing", "&a\n", "rules.yaml:1:1: tags, anchors and aliases are not read; write the text out"},
		{"literals twice", "rules:\n  - literals: true\n  - literals: true\n    policy: hash\n", "rules.yaml:3:15: rules[1].literals: constants of the program are covered by rules[0] already"},
		{"a name for a template", "rules:\n\n  - template: " + secret + "\n", "rules.yaml:3:15: rules[0].template: the template has no {variable}; a fixed name is an exact rule"},
		{"a name twice", "rules:\n  - exact: [a]\n  - exact: [b, a]\n", "rules.yaml:3:16: rules[1].exact[1]: this name is covered by rules[0] already"},
		{"a key twice", "rules:\n  - exact: [a]\n    exact: [b]\n", "rules.yaml:3:5: rules[0]: this key is there twice"},
		{"two documents", "rules:\n  - exact: [a]\n---\nrules:\n  - exact: [b]\n", "rules.yaml:4:1: a second document; put everything into the first"},
		{"a third document behind an empty one", "rules:\n  - exact: [a]\n---\n---\nrules:\n  - exact: [b]\n", "rules.yaml:5:1: a second document; put everything into the first"},
		{"rules behind an empty document", "---\n---\nrules:\n  - exact: [b]\n", "rules.yaml:3:1: a second document; put everything into the first"},
		{"no YAML", "rules:\n  - exact: [" + secret + "\n", "rules.yaml:2: this cannot be read as YAML; the fault is on this line or near it"},
		{"no YAML, far down", "rules:\n" + strings.Repeat("  - exact: [a\n   ]\n", 50) + " x\n" + strings.Repeat("  - exact: [a]\n", 50), "rules.yaml:103: this cannot be read as YAML; the fault is on this line or near it"},
		{"no JSON", "{\"rules\": [\n  {\"exact\": [\"a\"]},\n  {\"exact\": [\"" + secret + "\"}\n]}\n", "rules.yaml:3: this cannot be read as YAML; the fault is on this line or near it"},
		{"a number for a name", "rules:\n  - exact: [a, 42]\n", "rules.yaml:2:16: rules[0].exact[1]: is not a string; quote a name that YAML reads as a number or a keyword"},
		{"a date for a name", "rules:\n  - exact: [2026-01-01]\n", "rules.yaml:2:13: rules[0].exact[0]: is not a string; quote a name that YAML reads as a number or a keyword"},
		{"no mapping", "- exact: [a]\n", "rules.yaml:1:1: has no keys; valid keys: rules"},
		{"no list", "rules: {exact: [a]}\n", "rules.yaml:1:8: rules: is no list"},
		{"a tab", "rules:\n\t- exact: [a]\n", "rules.yaml:2: this cannot be read as YAML; the fault is on this line or near it"},
		{"an anchor at a name", "rules:\n  - exact: [&a b]\n", "rules.yaml:2:13: rules[0].exact[0]: tags, anchors and aliases are not read; write the text out"},
		{"an anchor at a rule", "rules:\n  - &a\n    exact: [b]\n  - *a\n", "rules.yaml:2:5: rules[0]: tags, anchors and aliases are not read; write the text out"},
		{"an anchor at the rules", "rules: &a\n  - exact: [b]\n", "rules.yaml:1:8: rules: tags, anchors and aliases are not read; write the text out"},
		{"an alias without an anchor", "rules:\n  - exact: [*a]\n", "rules.yaml:2: tags, anchors and aliases are not read; write the text out"},
		{"a merge key", "rules:\n  - <<: {exact: [b]}\n", "rules.yaml:2:5: rules[0]: unknown key; valid keys: exact, template, literals, policy"},
		{"a tag", "rules:\n  - exact: [!!str 42]\n", "rules.yaml:2:13: rules[0].exact[0]: tags, anchors and aliases are not read; write the text out"},
		{"a tag at a list", "rules:\n  - exact: !!set [a]\n", "rules.yaml:2:12: rules[0].exact: tags, anchors and aliases are not read; write the text out"},
		{"Latin-1", "rules:\n  - exact: [caf\xe9]\n", "rules.yaml:2:16: this is not UTF-8; save the file in that encoding"},
		{"UTF-16", "\xff\xfer\x00u\x00", "rules.yaml:1:1: this is not UTF-8; save the file in that encoding"},
		{"a NUL", "rules:\n  - exact: [a\x00b]\n", "rules.yaml:2:14: this is a control character; write it in double quotes, as in \"a\\x00b\""},
		{"a terminal's escape", "rules:\n  - exact: ['\x1b[31m']\n", "rules.yaml:2:14: this is a control character; write it in double quotes, as in \"a\\x00b\""},
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
					Type  string
					Const any
					Enum  []string
				}
			}
		}
	}
	if err := json.Unmarshal(rulesfile.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	rule := schema.Properties["rules"].Items.Properties
	values := map[string]string{"exact": "[a]", "template": "'x-{y}'", "literals": "true", "policy": "raw"}
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
		if _, err := rulesfile.Parse("f", []byte(text)); err != nil || rule[key].Type == "" && rule[key].Const != true {
			t.Errorf("key %s: %v, type %q", key, err, rule[key].Type)
		}
	}
	if diff := cmp.Diff([]string{redact.PolicyConstant, redact.PolicyHash, redact.PolicyRaw}, slices.Sorted(slices.Values(rule["policy"].Enum))); diff != "" {
		t.Error(diff)
	}
}
