package main

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	yamlparser "github.com/goccy/go-yaml/parser"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/query"
	"github.com/leaderscope/leaderscope/redact"
)

// maxAlias is the longest alias in characters.
const maxAlias = 64

func aliasesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "aliases FILE",
		Short: "Print recording rules that give labels an alias",
		Long: "aliases reads a mapping of labels to aliases and prints Prometheus rules that record it, one series\n" +
			query.AliasSeries + "{" + catalog.LockName.Name() + ",alias} per label, for panels that show the alias in place of a hash.\n" +
			"The file holds one label and its alias a line, and no names:\n\n" +
			"  k1:937c429ef80d3ee9: billing\n\n" +
			"An alias is readable by all who read the metrics. One with an @, or of more than 64 characters, is refused.",
		Args: cobra.ExactArgs(1),

		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			aliases, err := loadAliases(args[0])
			if err != nil {
				return err
			}
			text, err := aliasRules(aliases)
			if err != nil {
				return failure{err}
			}
			if _, err := c.OutOrStdout().Write(text); err != nil {
				return failure{err}
			}
			return nil
		},
	}
}

// loadAliases reads a mapping of labels to aliases.
func loadAliases(name string) (map[string]string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	file, err := yamlparser.ParseBytes(data, 0)
	if err != nil {
		return nil, inFile(name, data, err)
	}
	aliases := map[string]string{}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		m, ok := doc.Body.(ast.MapNode)
		if !ok {
			return nil, aliasError(name, doc.Body, "this is no mapping of labels to aliases; write it as label: alias")
		}
		for i := m.MapRange(); i.Next(); {
			label, alias := text(i.Key()), text(i.Value())
			if problem := checkAlias(label, alias); problem != nil {
				return nil, aliasError(name, i.Key(), problem.Error())
			}
			if _, twice := aliases[label]; twice {
				return nil, aliasError(name, i.Key(), "this label is there twice")
			}
			aliases[label] = alias
		}
	}
	if len(aliases) == 0 {
		return nil, &keyError{file: name, problem: "no aliases; write them as label: alias"}
	}
	return aliases, nil
}

// text is the value of a text; empty for everything else.
func text(n ast.Node) string {
	if s, ok := n.(*ast.StringNode); ok {
		return s.Value
	}
	return ""
}

// checkAlias keeps out of the metrics what is likely to be the name that the
// label hides. The texts do not repeat it.
func checkAlias(label, alias string) error {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	switch {
	case label == "" || redact.Valid(label) != label:
		return errors.New("this is no label; labels are texts of at most 128 bytes without control characters")
	case strings.TrimSpace(alias) == "" || !utf8.ValidString(alias) || strings.ContainsFunc(alias, unprintable):
		return errors.New("the alias is no printable text; what looks like a number goes in quotes")
	case strings.Contains(alias, "@"):
		return errors.New("the alias has an @; an address is what the label is there to hide")
	case utf8.RuneCountInString(alias) > maxAlias:
		return errors.New("the alias has more than 64 characters")
	}
	return nil
}

func aliasError(file string, at ast.Node, problem string) error {
	e := &keyError{file: file, problem: problem}
	if t := at.GetToken(); t != nil {
		e.line, e.column = t.Position.Line, t.Position.Column
	}
	return e
}

// aliasRules records a series per label. Rules of one server make each of them
// once, however many replicas of the service there are.
func aliasRules(aliases map[string]string) ([]byte, error) {
	type rule struct {
		Record string            `yaml:"record"`
		Expr   string            `yaml:"expr"`
		Labels map[string]string `yaml:"labels"`
	}
	type group struct {
		Name  string `yaml:"name"`
		Rules []rule `yaml:"rules"`
	}
	g := group{Name: "leaderscope-aliases"}
	for _, label := range slices.Sorted(maps.Keys(aliases)) {
		g.Rules = append(g.Rules, rule{
			Record: query.AliasSeries, Expr: "vector(1)",
			Labels: map[string]string{catalog.LockName.Name(): label, query.AliasLabel: aliases[label]},
		})
	}
	text := bytes.NewBufferString("# Made by gen-dashboards aliases from a mapping of labels; change that and make it again.\n")
	e := yaml.NewEncoder(text)
	e.SetIndent(2)
	if err := e.Encode(map[string][]group{"groups": {g}}); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}
