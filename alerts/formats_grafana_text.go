package alerts

import (
	"cmp"
	"fmt"
	"regexp"
	"text/template/parse"
)

var (
	dollarValue  = regexp.MustCompile(`\$value\b`)
	dollarLabels = regexp.MustCompile(`\$labels\b`)
)

// forGrafana rewrites a template of Prometheus. The value is that of a query
// among several there, and variables are fields: Grafana takes a dollar in
// these files for one of its environment variables, in some versions and some
// fields.
func forGrafana(text string) (string, error) {
	text = dollarLabels.ReplaceAllString(dollarValue.ReplaceAllString(text, ".Values.query.Value"), ".Labels")
	tree := parse.New("annotation")
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(text, "", "", map[string]*parse.Tree{}); err != nil {
		return "", err
	}
	if inner := shadowed(tree.Root, false); inner != "" {
		return "", fmt.Errorf("%s is used within a block, where Grafana would not find it; use it outside", inner)
	}
	return text, nil
}

// shadowed finds a field of the alert where the dot is something else.
func shadowed(n parse.Node, inBlock bool) string {
	switch n := n.(type) {
	case *parse.ListNode:
		for _, child := range nodesOf(n) {
			if found := shadowed(child, inBlock); found != "" {
				return found
			}
		}
	case *parse.ActionNode:
		return shadowed(n.Pipe, inBlock)
	case *parse.PipeNode:
		for _, c := range n.Cmds {
			for _, arg := range c.Args {
				if found := shadowed(arg, inBlock); found != "" {
					return found
				}
			}
		}
	case *parse.FieldNode:
		if inBlock && (n.Ident[0] == "Labels" || n.Ident[0] == "Values") {
			return "." + n.Ident[0]
		}
	case *parse.IfNode:
		return cmp.Or(shadowed(n.Pipe, inBlock), shadowed(n.List, inBlock), shadowed(n.ElseList, inBlock))
	case *parse.WithNode:
		return cmp.Or(shadowed(n.Pipe, inBlock), shadowed(n.List, true), shadowed(n.ElseList, inBlock))
	case *parse.RangeNode:
		return cmp.Or(shadowed(n.Pipe, inBlock), shadowed(n.List, true), shadowed(n.ElseList, inBlock))
	}
	return ""
}

// nodesOf a list that may be missing.
func nodesOf(l *parse.ListNode) []parse.Node {
	if l == nil {
		return nil
	}
	return l.Nodes
}
