package rulesfile

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/leaderscope/leaderscope/redact"
)

var policies = map[string]func(redact.Rule) redact.Rule{
	redact.PolicyConstant: redact.Rule.Constant,
	redact.PolicyHash:     redact.Rule.Hashed,
	redact.PolicyRaw:      redact.Rule.Raw,
}

// rules reads the tree of a document; nil is an empty one.
func (d *document) rules(body *yaml.Node) ([]redact.Rule, error) {
	if body == nil {
		return nil, d.wrong(nil, "rules", noRules)
	}
	keys, err := d.mapping(body, "", "rules")
	if err != nil {
		return nil, err
	}
	list := keys["rules"]
	switch {
	case list == nil || list.Kind == yaml.ScalarNode && list.Tag == "!!null", list.Kind == yaml.SequenceNode && len(list.Content) == 0:
		return nil, d.wrong(list, "rules", noRules)
	case list.Kind != yaml.SequenceNode:
		return nil, d.wrong(list, "rules", "is no list")
	case len(list.Content) > MaxRules:
		return nil, d.wrong(list.Content[MaxRules], "rules", fmt.Sprintf("has more than %d rules; one template covers many names", MaxRules))
	case !isPlain(list):
		return nil, d.wrong(list, "rules", notPlain)
	}
	d.seen = map[string]int{}
	rules := make([]redact.Rule, len(list.Content))
	for i, node := range list.Content {
		if rules[i], err = d.rule(i, node); err != nil {
			return nil, err
		}
	}
	return rules, nil
}

func (d *document) rule(i int, node *yaml.Node) (redact.Rule, error) {
	at := fmt.Sprintf("rules[%d]", i)
	var r redact.Rule
	keys, err := d.mapping(node, at, "exact", "template", "literals", "policy")
	if err != nil {
		return r, err
	}
	policy := keys["policy"]
	delete(keys, "policy")
	switch {
	case len(keys) > 1:
		return r, d.wrong(node, at, "has more than one of exact, template and literals; make one rule of each")
	case keys["exact"] != nil:
		r, err = d.exact(i, keys["exact"])
	case keys["template"] != nil:
		r, err = d.template(at+".template", keys["template"])
	case keys["literals"] != nil:
		r, err = d.constants(i, keys["literals"])
	default:
		return r, d.wrong(node, at, "covers no name; give it exact, a list of names, or template, or literals")
	}
	if err != nil || policy == nil {
		return r, err
	}
	word, err := d.text(policy, at+".policy")
	if err != nil {
		return r, err
	}
	as, known := policies[word]
	if !known {
		return r, d.wrong(policy, at+".policy", "unknown policy; valid policies: constant, hash, raw")
	}
	return as(r), nil
}

func (d *document) exact(i int, node *yaml.Node) (redact.Rule, error) {
	at := fmt.Sprintf("rules[%d].exact", i)
	if node.Kind == yaml.AliasNode || !isPlain(node) {
		return redact.Rule{}, d.wrong(node, at, notPlain)
	}
	if node.Kind != yaml.SequenceNode || len(node.Content) == 0 {
		return redact.Rule{}, d.wrong(node, at, "is no list of names; write it as [name, name]")
	}
	names := make([]string, len(node.Content))
	for j, n := range node.Content {
		place := fmt.Sprintf("%s[%d]", at, j)
		name, err := d.text(n, place)
		if err != nil {
			return redact.Rule{}, err
		}
		if first, twice := d.seen[name]; twice {
			return redact.Rule{}, d.wrong(n, place, fmt.Sprintf("this name is covered by rules[%d] already", first))
		}
		d.seen[name] = i
		names[j] = name
	}
	return redact.Exact(names...), nil
}

func (d *document) template(at string, node *yaml.Node) (redact.Rule, error) {
	text, err := d.text(node, at)
	if err != nil {
		return redact.Rule{}, err
	}
	r := redact.Template(text)
	if err := r.Err(); err != nil {
		return r, d.wrong(node, at, err.Error())
	}
	return r, nil
}

func (d *document) constants(i int, node *yaml.Node) (redact.Rule, error) {
	at := fmt.Sprintf("rules[%d].literals", i)
	switch {
	case node.Kind == yaml.AliasNode || !isPlain(node):
		return redact.Rule{}, d.wrong(node, at, notPlain)
	case node.Kind != yaml.ScalarNode || node.Tag != "!!bool" || !strings.EqualFold(node.Value, "true"):
		return redact.Rule{}, d.wrong(node, at, "is not true; leave the rule out to let no constants through")
	case d.literals != nil:
		return redact.Rule{}, d.wrong(node, at, fmt.Sprintf("constants of the program are covered by rules[%d] already", *d.literals))
	}
	d.literals = &i
	return redact.Literals(), nil
}

// mapping returns the values of a mapping that has no keys but these.
func (d *document) mapping(node *yaml.Node, at string, allowed ...string) (map[string]*yaml.Node, error) {
	valid := strings.Join(allowed, ", ")
	if node.Kind == yaml.AliasNode || !isPlain(node) {
		return nil, d.wrong(node, at, notPlain)
	}
	if node.Kind != yaml.MappingNode {
		return nil, d.wrong(node, at, "has no keys; valid keys: "+valid)
	}
	values := map[string]*yaml.Node{}
	for i := 0; i < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		key, err := d.text(name, at)
		if err != nil || !slices.Contains(allowed, key) {
			return nil, d.wrong(name, at, "unknown key; valid keys: "+valid)
		}
		if values[key] != nil {
			return nil, d.wrong(name, at, "this key is there twice")
		}
		values[key] = value
	}
	return values, nil
}

func (d *document) text(node *yaml.Node, at string) (string, error) {
	switch {
	case node.Kind == yaml.AliasNode || !isPlain(node):
		return "", d.wrong(node, at, notPlain)
	case node.Kind != yaml.ScalarNode || node.Tag != "!!str":
		return "", d.wrong(node, at, "is not a string; quote a name that YAML reads as a number or a keyword")
	case len(node.Value) > MaxNameSize:
		return "", d.wrong(node, at, fmt.Sprintf("is longer than %d bytes", MaxNameSize))
	}
	return node.Value, nil
}

// isPlain reports nodes without a tag of their own and without an anchor.
func isPlain(node *yaml.Node) bool { return node.Anchor == "" && node.Style&yaml.TaggedStyle == 0 }
