package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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
		Short: "Print recording rules that map labels to aliases",
		Long: "aliases reads a mapping of labels to aliases and prints Prometheus recording rules for it, with one series\n" +
			query.AliasSeries + "{" + catalog.LockName.Name() + ",alias} per label. Panels then show the alias instead of a hash.\n" +
			"Each line of the file has one label and its alias. It does not contain lock names:\n\n" +
			"  k1:937c429ef80d3ee9: billing\n\n" +
			"Everyone who can read the metrics can read the aliases. Aliases with an @ or with more than 64 characters are refused.",
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

// maxMapping is a mapping of a hundred thousand labels.
const maxMapping = 1 << 24

// loadAliases reads a mapping of labels to aliases, and reports every line that
// is wrong.
func loadAliases(name string) (map[string]string, error) {
	data, err := readFile(name, maxMapping)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(data) {
		return nil, &keyError{file: name, problem: "the file is not in UTF-8; save it as UTF-8"}
	}
	var doc yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, &keyError{file: name, problem: "no aliases; write them as label: alias"}
	} else if err != nil {
		return nil, &keyError{file: name, problem: strings.TrimPrefix(err.Error(), "yaml: ") + "; correct the YAML there"}
	}
	aliases, problems := readAliases(name, doc.Content[0])
	var second yaml.Node
	if err := d.Decode(&second); err == nil {
		problems = append(problems, aliasError(name, second.Content[0], "this is a second YAML document; put everything into the first"))
	} else if !errors.Is(err, io.EOF) {
		problems = append(problems, &keyError{file: name, problem: strings.TrimPrefix(err.Error(), "yaml: ") + "; correct the YAML there"})
	}
	if len(problems) > maxReported {
		problems = append(problems[:maxReported], fmt.Errorf("%s: %d more errors; fix the errors above first", name, len(problems)-maxReported))
	}
	return aliases, errors.Join(problems...)
}

func readAliases(name string, m *yaml.Node) (aliases map[string]string, problems []error) {
	if m.Kind != yaml.MappingNode {
		return nil, []error{aliasError(name, m, "this is not a mapping of labels to aliases; write it as label: alias")}
	}
	aliases = map[string]string{}
	for pair := range slices.Chunk(m.Content, 2) {
		label, alias := text(pair[0]), text(pair[1])
		problem := checkAlias(label, alias)
		if _, twice := aliases[label]; twice {
			problem = errors.New("duplicate label; keep one of them")
		}
		if problem != nil {
			problems = append(problems, aliasError(name, pair[0], problem.Error()))
		}
		aliases[label] = alias
	}
	if len(aliases) == 0 {
		problems = append(problems, &keyError{file: name, problem: "no aliases; write them as label: alias"})
	}
	return aliases, problems
}

// text is the value of a text; empty for everything else.
func text(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		return n.Value
	}
	return ""
}

// checkAlias refuses aliases that are likely to be the name that the label hides.
// Its errors do not repeat the alias.
func checkAlias(label, alias string) error {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	switch {
	case label == "" || redact.Valid(label) != label:
		return errors.New("this is not a label; labels are texts of at most 128 bytes without control characters")
	case strings.TrimSpace(alias) == "" || !utf8.ValidString(alias) || strings.ContainsFunc(alias, unprintable):
		return errors.New("the alias is not printable text; write numbers in quotes")
	case strings.Contains(alias, "@"):
		return errors.New("the alias contains an @; the label exists to hide addresses, so use another alias")
	case utf8.RuneCountInString(alias) > maxAlias:
		return errors.New("the alias has more than 64 characters; use a shorter one")
	}
	return nil
}

func aliasError(file string, at *yaml.Node, problem string) error {
	return &keyError{file: file, problem: problem, line: at.Line, column: at.Column}
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
	text := bytes.NewBufferString("# Generated by gen-dashboards aliases from a mapping of labels: do not edit. Change the mapping and generate again.\n")
	e := yaml.NewEncoder(text)
	e.SetIndent(2)
	if err := e.Encode(map[string][]group{"groups": {g}}); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}
