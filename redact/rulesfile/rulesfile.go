// Package rulesfile reads redaction rules from YAML:
//
//	rules:
//	  - exact: [daily-report, nightly-import]
//	  - template: tenant-{id}/orders
//	    policy: hash
//
// It is apart from package redact, so that a service without such a file
// links no YAML. What rules mean is the business of package redact.
package rulesfile

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/leaderscope/leaderscope/redact"
)

// Schema is the JSON Schema of the file, for editors.
//
//go:embed schema.json
var Schema []byte

// Error is a fault of a rules file and where it is. It shows neither names
// nor templates of the file.
type Error struct {
	// File is the file as it was named.
	File string
	// Line and Column count from 1; 0 where the whole file is meant.
	Line, Column int
	// Key is the place within the file, such as rules[1].policy; may be empty.
	Key string
	// Problem says what is wrong and what would be right.
	Problem string
}

// Error is file:line:column: key: problem.
func (e *Error) Error() string {
	text := e.File
	if e.Line > 0 {
		text = fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
	}
	if e.Key != "" {
		text += ": " + e.Key
	}
	return text + ": " + e.Problem
}

// Load reads a rules file. Its errors are those of opening the file, or an
// *Error.
func Load(path string) ([]redact.Rule, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("leaderscope: rules: %w", err)
	}
	return Parse(path, data)
}

// Parse reads rules from YAML; file names it in errors, which are *Error. The
// rules are in the order of the file, where the first that covers a name
// decides. A file without rules is an error: it covers nothing.
func Parse(file string, data []byte) (rules []redact.Rule, err error) {
	f := &document{file: file}
	defer func() {
		if recover() != nil { // of the YAML parser
			rules, err = nil, f.wrong(nil, "", notYAML)
		}
	}()
	parsed, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, f.syntax(err)
	}
	if len(parsed.Docs) > 1 && parsed.Docs[1].Body != nil {
		return nil, f.wrong(parsed.Docs[1].Body, "", "a second document; put everything into the first")
	}
	if len(parsed.Docs) == 0 || parsed.Docs[0].Body == nil {
		return nil, f.wrong(nil, "rules", noRules)
	}
	return f.rules(parsed.Docs[0].Body)
}

const (
	notYAML = "this is no YAML that rules can be read from"
	noRules = "is missing or empty; list rules with exact or template"
)

// document is one file. Its values are read from the syntax tree, where every
// one has its place.
type document struct {
	file string
	// seen says which rule covers a name of an exact rule.
	seen map[string]int
}

var policies = map[string]func(redact.Rule) redact.Rule{
	redact.ModeConstant: redact.Rule.Constant,
	redact.ModeHash:     redact.Rule.Hashed,
	redact.ModeRaw:      redact.Rule.Raw,
}

func (f *document) rules(body ast.Node) ([]redact.Rule, error) {
	keys, err := f.mapping(body, "", "rules")
	if err != nil {
		return nil, err
	}
	list, ok := keys["rules"].(*ast.SequenceNode)
	switch {
	case keys["rules"] == nil, ok && len(list.Values) == 0:
		return nil, f.wrong(keys["rules"], "rules", noRules)
	case !ok:
		return nil, f.wrong(keys["rules"], "rules", "is no list")
	}
	f.seen = map[string]int{}
	rules := make([]redact.Rule, len(list.Values))
	for i, node := range list.Values {
		if rules[i], err = f.rule(i, node); err != nil {
			return nil, err
		}
	}
	return rules, nil
}

func (f *document) rule(i int, node ast.Node) (redact.Rule, error) {
	at := fmt.Sprintf("rules[%d]", i)
	var r redact.Rule
	keys, err := f.mapping(node, at, "exact", "template", "policy")
	if err != nil {
		return r, err
	}
	exact, template := keys["exact"], keys["template"]
	switch {
	case exact != nil && template != nil:
		return r, f.wrong(node, at, "has both exact and template; make two rules of it")
	case exact != nil:
		r, err = f.exact(i, exact)
	case template != nil:
		r, err = f.template(at+".template", template)
	default:
		return r, f.wrong(node, at, "covers no name; give it exact, a list of names, or template")
	}
	if err != nil || keys["policy"] == nil {
		return r, err
	}
	word, err := f.text(keys["policy"], at+".policy")
	if err != nil {
		return r, err
	}
	as, known := policies[word]
	if !known {
		return r, f.wrong(keys["policy"], at+".policy", "is none of constant, hash, raw")
	}
	return as(r), nil
}

func (f *document) exact(i int, node ast.Node) (redact.Rule, error) {
	at := fmt.Sprintf("rules[%d].exact", i)
	list, ok := node.(*ast.SequenceNode)
	if !ok || len(list.Values) == 0 {
		return redact.Rule{}, f.wrong(node, at, "is no list of names; write it as [name, name]")
	}
	names := make([]string, len(list.Values))
	for j, n := range list.Values {
		place := fmt.Sprintf("%s[%d]", at, j)
		name, err := f.text(n, place)
		if err != nil {
			return redact.Rule{}, err
		}
		if first, twice := f.seen[name]; twice {
			return redact.Rule{}, f.wrong(n, place, fmt.Sprintf("this name is covered by rules[%d] already", first))
		}
		f.seen[name] = i
		names[j] = name
	}
	return redact.Exact(names...), nil
}

func (f *document) template(at string, node ast.Node) (redact.Rule, error) {
	text, err := f.text(node, at)
	if err != nil {
		return redact.Rule{}, err
	}
	r := redact.Template(text)
	if err := r.Err(); err != nil {
		return r, f.wrong(node, at, err.Error())
	}
	return r, nil
}

// mapping returns the values of a mapping that has no keys but these.
func (f *document) mapping(node ast.Node, at string, allowed ...string) (map[string]ast.Node, error) {
	m, ok := node.(ast.MapNode)
	if !ok {
		return nil, f.wrong(node, at, "has no keys; there are "+strings.Join(allowed, ", "))
	}
	values := map[string]ast.Node{}
	for i := m.MapRange(); i.Next(); {
		key, err := f.text(i.Key(), at)
		if err != nil || !slices.Contains(allowed, key) {
			return nil, f.wrong(i.Key(), at, "unknown key; there are "+strings.Join(allowed, ", "))
		}
		if values[key] != nil {
			return nil, f.wrong(i.Key(), at, twice)
		}
		values[key] = i.Value()
	}
	return values, nil
}

const twice = "this key is there twice"

func (f *document) text(node ast.Node, at string) (string, error) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.MappingKeyNode, *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		return "", f.wrong(node, at, "tags, anchors and aliases are not read; write the text out")
	}
	return "", f.wrong(node, at, "is no text; a name that looks like a number or a word of YAML goes in quotes")
}

// wrong is an error at a node; without one it is about the whole file.
func (f *document) wrong(node ast.Node, key, problem string) error {
	e := &Error{File: f.file, Key: key, Problem: problem}
	if m, ok := node.(*ast.MappingNode); ok && len(m.Values) > 0 {
		node = m.Values[0].Key // a mapping begins at its first key
	}
	if v, ok := node.(*ast.MappingValueNode); ok {
		node = v.Key
	}
	if node != nil && node.GetToken() != nil {
		e.Line, e.Column = node.GetToken().Position.Line, node.GetToken().Position.Column
	}
	return e
}

// syntax is what the YAML parser refused. Its own words quote the file, so
// that they are left out.
func (f *document) syntax(err error) error {
	e := &Error{File: f.file, Problem: notYAML}
	var bad yaml.Error
	if !errors.As(err, &bad) {
		return e
	}
	if t := bad.GetToken(); t != nil {
		e.Line, e.Column = t.Position.Line, t.Position.Column
	}
	if strings.Contains(bad.GetMessage(), "already defined") {
		e.Problem = twice
	}
	return e
}
