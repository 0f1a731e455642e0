package grafana

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"
)

// Text rewrites a template of Prometheus. The value is that of a query
// among several there. Which dollars of an annotation stand for environment
// variables differs between the versions of Grafana, so none is left that one
// of them could read as such: labels and values are fields, and a dollar in a
// text is written by its number. The error says what Grafana has no word for.
func Text(text string) (string, error) {
	// Prometheus declares the same variables.
	const declared = "{{$labels := 0}}{{$externalLabels := 0}}{{$externalURL := 0}}{{$value := 0}}"
	tree := parse.New("annotation")
	tree.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := tree.Parse(declared+text, "", "", trees); err != nil {
		return "", err
	}
	r := &rewriting{source: declared + text, from: len(declared)}
	for _, t := range trees {
		r.node(t.Root, t != tree)
	}
	return r.done()
}

// rewriting collects changes of a template by their places.
type rewriting struct {
	source string
	from   int // where the template begins
	edits  []edit
	err    error
}

type edit struct {
	start, end int
	text       string
}

// done applies the changes.
func (r *rewriting) done() (string, error) {
	if r.err != nil {
		return "", r.err
	}
	slices.SortFunc(r.edits, func(a, b edit) int { return a.start - b.start })
	var out strings.Builder
	at := r.from
	for _, e := range r.edits {
		out.WriteString(r.source[at:e.start])
		out.WriteString(e.text)
		at = e.end
	}
	out.WriteString(r.source[at:])
	return out.String(), nil
}

// replace changes what is written at a place, which must be as expected.
func (r *rewriting) replace(start int, old, text string) {
	if start < 0 || !strings.HasPrefix(r.source[start:], old) {
		r.err = fmt.Errorf("%s is written in a way that cannot be rewritten", old)
		return
	}
	r.edits = append(r.edits, edit{start, start + len(old), text})
}

// node rewrites a part of the template. Within a block the dot is not the
// alert, which $ is everywhere.
func (r *rewriting) node(n parse.Node, inBlock bool) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, child := range n.Nodes {
				r.node(child, inBlock)
			}
		}
	case *parse.TextNode:
		for i, c := range n.Text {
			if c == '$' {
				r.replace(int(n.Pos)+i, "$", `{{ "\x24" }}`)
			}
		}
	case *parse.StringNode:
		r.text(n)
	case *parse.ActionNode:
		r.node(n.Pipe, inBlock)
	case *parse.PipeNode:
		if n != nil {
			for _, c := range n.Cmds {
				r.node(c, inBlock)
			}
		}
	case *parse.CommandNode:
		for _, arg := range n.Args {
			r.node(arg, inBlock)
		}
	case *parse.ChainNode:
		r.node(n.Node, inBlock)
	case *parse.TemplateNode:
		r.node(n.Pipe, inBlock)
	case *parse.IfNode:
		r.branch(&n.BranchNode, inBlock, inBlock)
	case *parse.WithNode:
		r.branch(&n.BranchNode, inBlock, true)
	case *parse.RangeNode:
		r.branch(&n.BranchNode, inBlock, true)
	case *parse.VariableNode:
		r.variable(n, inBlock)
	case *parse.FieldNode:
		r.field(n, inBlock)
	}
}

func (r *rewriting) branch(n *parse.BranchNode, inBlock, below bool) {
	r.node(n.Pipe, inBlock)
	r.node(n.List, below)
	r.node(n.ElseList, inBlock)
}

func (r *rewriting) text(n *parse.StringNode) {
	if !strings.Contains(n.Text, "$") {
		return
	}
	quoted := n.Quoted
	if strings.HasPrefix(quoted, "`") {
		quoted = strconv.Quote(n.Text)
	}
	r.replace(int(n.Pos), n.Quoted, strings.ReplaceAll(quoted, "$", `\x24`))
}

// variable rewrites those that Prometheus declares; others are the template's
// own. The place of one with fields is that of the first field.
func (r *rewriting) variable(n *parse.VariableNode, inBlock bool) {
	alert := ""
	if inBlock {
		alert = "$"
	}
	start := int(n.Pos)
	if len(n.Ident) > 1 {
		start -= len(n.Ident[0])
	}
	switch n.Ident[0] {
	case "$labels":
		r.replace(start, n.Ident[0], alert+".Labels")
	case "$value":
		r.replace(start, n.Ident[0], alert+".Values.query.Value")
	case "$externalLabels":
		r.err = errors.New("$externalLabels are unknown to Grafana")
	case "$externalURL":
		r.replace(start, n.Ident[0], "externalURL")
	case "$":
		if len(n.Ident) > 1 {
			r.root(start, "$", n.Ident[1])
		}
	}
}

// field rewrites fields of the alert.
func (r *rewriting) field(n *parse.FieldNode, inBlock bool) {
	if inBlock {
		return
	}
	start := int(n.Pos)
	if len(n.Ident) > 1 {
		start -= len("." + n.Ident[0])
	}
	r.root(start, "", n.Ident[0])
}

// root rewrites a field of what Prometheus gives to a template.
func (r *rewriting) root(start int, prefix, name string) {
	switch name {
	case "Value":
		r.replace(start, prefix+".Value", prefix+".Values.query.Value")
	case "ExternalURL":
		r.replace(start, prefix+".ExternalURL", "externalURL")
	case "ExternalLabels":
		r.err = errors.New(".ExternalLabels are unknown to Grafana")
	}
}
