package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/leaderscope/leaderscope/redact"
	"github.com/leaderscope/leaderscope/redact/rulesfile"
)

// labeling says which label each lock name has.
type labeling struct {
	keyFile, keyID             string
	secondaryFile, secondaryID string
	rules, aliases, output     string
	names                      bool
}

func labelCommand() *cobra.Command {
	var l labeling
	c := &cobra.Command{
		Use:   "label --key-file F --key-id ID [NAME...]",
		Short: "Say which label each lock name has",
		Long: "label prints, for each lock name in turn, the label that stands for it in metrics, spans and logs.\n" +
			"Names come from the arguments, or one a line from standard input, which leaves none in the shell's history.\n" +
			"Key, id and rules have to be those of the service. The output has no names unless --names asks for them.",
		Example: "  gen-dashboards label --key-file key --key-id k1 billing/nightly\n" +
			"  gen-dashboards label --key-file key --key-id k1 --output json --names < names",

		DisableFlagsInUseLine: true,
		RunE:                  func(c *cobra.Command, names []string) error { return l.run(c.InOrStdin(), c.OutOrStdout(), names) },
	}
	c.SetFlagErrorFunc(func(*cobra.Command, error) error { // which may quote a name
		return errors.New("unknown flag, or a flag without its value; names that begin with - go after --")
	})
	f := c.Flags()
	f.StringVar(&l.keyFile, "key-file", "", "the `file` with the key, as the service reads it")
	f.StringVar(&l.keyID, "key-id", "", "the `id` of the key, as the service has it")
	f.StringVar(&l.secondaryFile, "secondary-key-file", "", "the `file` with the other key of a rotation; its label comes second")
	f.StringVar(&l.secondaryID, "secondary-key-id", "", "the `id` of the other key")
	f.StringVar(&l.rules, "rules", "", "the `file` with the redaction rules of the service")
	f.StringVar(&l.aliases, "aliases", "", "the `file` with aliases of labels; they are shown")
	f.StringVar(&l.output, "output", "text", "the `form`: text, a line of columns per name, or json")
	f.BoolVar(&l.names, "names", false, "show the name beside its label")
	return c
}

// labeled is what is printed of one name.
type labeled struct {
	Label     string  `json:"label"`
	Secondary string  `json:"secondary,omitempty"`
	Family    string  `json:"family,omitempty"`
	Shared    bool    `json:"shared"`
	Alias     string  `json:"alias,omitempty"`
	Name      *string `json:"name,omitempty"`
}

func (l labeling) run(stdin io.Reader, stdout io.Writer, names []string) error {
	if l.keyFile == "" || l.keyID == "" {
		return errors.New("--key-file and --key-id are both needed")
	}
	if l.output != "text" && l.output != "json" {
		return errors.New("--output is neither text nor json")
	}
	policy, err := l.policy()
	if err != nil {
		return err
	}
	var known map[string]string
	if l.aliases != "" {
		if known, err = loadAliases(l.aliases); err != nil {
			return err
		}
	}
	if len(names) == 0 {
		if names, err = readNames(stdin); err != nil {
			return failure{err}
		}
	}
	if len(names) == 0 {
		return errors.New("no names: give them as arguments, or one a line on standard input")
	}
	found := make([]labeled, len(names))
	for i, n := range names {
		found[i] = l.label(policy, known, n)
	}
	if err := l.print(stdout, found); err != nil {
		return failure{err}
	}
	return nil
}

func (l labeling) policy() (*redact.Policy, error) {
	key, err := redact.ReadKeyFile(l.keyFile)
	if err != nil {
		return nil, err
	}
	var rules []redact.Rule
	if l.rules != "" {
		if rules, err = rulesfile.Load(l.rules); err != nil {
			return nil, err
		}
	}
	policy, err := redact.Hash(key, l.keyID, rules...)
	if err != nil || l.secondaryFile == "" && l.secondaryID == "" {
		return policy, err
	}
	if l.secondaryFile == "" || l.secondaryID == "" {
		return nil, errors.New("--secondary-key-file and --secondary-key-id go together")
	}
	if key, err = redact.ReadKeyFile(l.secondaryFile); err != nil {
		return nil, err
	}
	return policy.WithSecondary(key, l.secondaryID)
}

// readNames reads one name a line; empty lines are none.
func readNames(r io.Reader) (names []string, err error) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"); line != "" {
			names = append(names, line)
		}
		if errors.Is(err, io.EOF) {
			return names, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read names: %w", err)
		}
	}
}

func (l labeling) label(policy *redact.Policy, aliases map[string]string, name string) labeled {
	labels := policy.Labels(name)
	found := labeled{Label: labels[0].Text, Family: labels[0].Family, Shared: labels[0].Shared, Alias: aliases[labels[0].Text]}
	if len(labels) > 1 {
		found.Secondary = labels[1].Text
		if found.Alias == "" {
			found.Alias = aliases[found.Secondary]
		}
	}
	if l.names {
		found.Name = &name
	}
	return found
}

// print writes JSON, or columns: the label and whatever the flags ask for.
func (l labeling) print(w io.Writer, found []labeled) error {
	if l.output == "json" {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(found)
	}
	for _, f := range found {
		columns := []string{f.Label}
		if l.secondaryFile != "" {
			columns = append(columns, f.Secondary)
		}
		if l.aliases != "" {
			columns = append(columns, f.Alias)
		}
		if f.Name != nil {
			columns = append(columns, inOneLine(*f.Name))
		}
		if _, err := fmt.Fprintln(w, strings.Join(columns, "\t")); err != nil {
			return err
		}
	}
	return nil
}

// inOneLine quotes a name that would break the line.
func inOneLine(name string) string {
	if strings.ContainsFunc(name, unicode.IsControl) {
		return strconv.Quote(name)
	}
	return name
}
