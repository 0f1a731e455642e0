package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	yamlparser "github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// byteOrderMark is what some editors put before UTF-8.
const byteOrderMark = "\xef\xbb\xbf"

// Both limits are many times what a configuration needs. The second keeps the
// parser, whose time grows with the square of it, below a second.
const (
	maxBytes  = 1 << 18
	maxTokens = 10_000
)

// document is a configuration file, parsed once.
type document struct {
	name string
	body ast.Node // nil when the file is empty
	keys []entry  // in the order of the file
	at   map[string]entry
}

// entry is a key of the file, with its path from the top.
type entry struct {
	path       string
	key, value ast.Node
	// twice: an earlier one has the same path.
	twice bool
	// holder has the value.
	holder *ast.MappingValueNode
}

// parse reads YAML. It refuses files larger or more complex than a configuration
// can be.
func parse(name string, data []byte) (*document, error) {
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	if err := readable(data); err != nil {
		return nil, &keyError{file: name, problem: err.Error()}
	}
	d := &document{name: name, at: map[string]entry{}}
	file, err := yamlparser.ParseBytes(data, 0, yamlparser.AllowDuplicateMapKey())
	if err != nil {
		return nil, d.syntaxError(err)
	}
	for i, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType {
			continue
		}
		if i > 0 {
			return nil, d.placed(doc.Body, "", "this is a second YAML document; put everything into the first")
		}
		d.body = doc.Body
	}
	if d.body == nil || d.body.Type() == ast.NullType {
		d.body = nil
		return d, nil
	}
	if _, ok := d.body.(ast.MapNode); !ok {
		return nil, d.placed(d.body, "", "this is not a mapping of keys to values; write it as key: value")
	}
	d.walk("", d.body)
	return d, nil
}

// readable refuses files that cannot be a configuration before they are parsed:
// YAML aliases can expand a few hundred bytes to gigabytes.
func readable(data []byte) error {
	switch {
	case len(data) > maxBytes:
		return fmt.Errorf("the configuration has %d bytes; use at most %d", len(data), maxBytes)
	case !utf8.Valid(data):
		return errors.New("the file is not in UTF-8; save it as UTF-8")
	}
	n := 0
	for _, t := range lexer.Tokenize(string(data)) {
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			return fmt.Errorf("line %d: anchors, aliases and merge keys are not supported; write the values out", t.Position.Line)
		case token.TagType:
			return fmt.Errorf("line %d: tags such as %s are not supported; write the value without a tag", t.Position.Line, strings.TrimSpace(t.Value))
		case token.CommentType:
			continue
		}
		if n++; n > maxTokens {
			return fmt.Errorf("line %d: the file has too many keys, values and brackets for a configuration; use at most %d", t.Position.Line, maxTokens)
		}
	}
	return nil
}

func (d *document) walk(prefix string, n ast.Node) {
	m, ok := n.(ast.MapNode)
	if !ok {
		return
	}
	for i := m.MapRange(); i.Next(); {
		e := entry{path: prefix + keyText(i.Key()), key: i.Key(), value: i.Value(), holder: i.KeyValue()}
		_, e.twice = d.at[e.path]
		if !e.twice {
			d.at[e.path] = e
		}
		d.keys = append(d.keys, e)
		d.walk(e.path+".", e.value)
	}
}

// keyText is a key without the quotes that it may have in the file.
func keyText(key ast.MapKeyNode) string {
	if s, ok := key.(*ast.StringNode); ok {
		return s.Value
	}
	return key.String()
}

// placed is an error where a node is.
func (d *document) placed(n ast.Node, key, problem string) *keyError {
	e := &keyError{file: d.name, key: key, problem: problem}
	if t := n.GetToken(); t != nil {
		e.line, e.column = t.Position.Line, t.Position.Column
	}
	return e
}

// syntaxError is an error of the parser on one line.
func (d *document) syntaxError(err error) error {
	e := &keyError{file: d.name, problem: err.Error()}
	var syntax yaml.Error
	if errors.As(err, &syntax) {
		e.problem = syntax.GetMessage()
		if t := syntax.GetToken(); t != nil {
			e.line, e.column = t.Position.Line, t.Position.Column
		}
	}
	e.problem, _, _ = strings.Cut(e.problem, "\n")
	e.problem += "; correct the YAML here or just above"
	return e
}
