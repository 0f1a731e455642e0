package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/leaderscope/leaderscope/redact"
	"github.com/leaderscope/leaderscope/redact/rulesfile"
)

// labeling is one run of the command label.
type labeling struct {
	keyFile, keyID             string
	secondaryFile, secondaryID string
	rules, aliases, output     string
	names, literal             bool
}

func labelCommand() *cobra.Command {
	var l labeling
	c := &cobra.Command{
		Use:   "label --key-file FILE --key-id ID < NAMES",
		Short: "Print the label of each lock name",
		Long: "label prints the label of each lock name, as used in metrics, spans and logs, in the order of the names.\n" +
			"It reads the names from standard input, one per line. Names can also be passed as arguments, but arguments stay in the\n" +
			"shell history and are visible in the process list.\n" +
			"Use the same key, key id and rules as the service. The output does not contain names unless --names is set.\n" +
			"A policy may label constants of the program differently from names created at run time: use --literal for constants.",
		Example: "  gen-dashboards label --key-file key --key-id k1 < names\n" +
			"  gen-dashboards label --key-file key --key-id k1 --rules rules.yaml --output json --names < names\n" +
			"  gen-dashboards label --key-file key --key-id k1 --rules rules.yaml --literal < constants",

		DisableFlagsInUseLine: true,
		RunE:                  func(c *cobra.Command, names []string) error { return l.run(c.InOrStdin(), c.OutOrStdout(), names) },
	}
	c.SetFlagErrorFunc(func(*cobra.Command, error) error { // which may quote a name
		return errors.New("unknown flag, or a flag without a value; pass names on standard input, or after -- if they start with -")
	})
	f := c.Flags()
	f.StringVar(&l.keyFile, "key-file", "", "the `file` with the key of the service")
	f.StringVar(&l.keyID, "key-id", "", "the `id` of the key")
	f.StringVar(&l.secondaryFile, "secondary-key-file", "", "the `file` with the secondary key during a key rotation; adds a column with its label")
	f.StringVar(&l.secondaryID, "secondary-key-id", "", "the `id` of the secondary key")
	f.StringVar(&l.rules, "rules", "", "the `file` with the redaction rules of the service")
	f.StringVar(&l.aliases, "aliases", "", "the `file` with aliases of labels; adds a column with the alias")
	f.BoolVar(&l.literal, "literal", false, "the names are constants of the program, not created at run time")
	f.StringVar(&l.output, "output", "text", "the output `format`: text (one line per name) or json")
	f.BoolVar(&l.names, "names", false, "add a column with the name; unprintable characters are escaped")
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
		return errors.New("--key-file and --key-id are required")
	}
	if l.output != "text" && l.output != "json" {
		return errors.New("unknown output format; valid formats: text, json")
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
		return errors.New("no names on standard input; write one per line")
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
	policy := redact.Hash(key, l.keyID, rules...)
	if l.secondaryFile == "" && l.secondaryID == "" {
		return policy, policy.Err()
	}
	if l.secondaryFile == "" || l.secondaryID == "" {
		return nil, errors.New("--secondary-key-file and --secondary-key-id must be used together")
	}
	if key, err = redact.ReadKeyFile(l.secondaryFile); err != nil {
		return nil, err
	}
	policy = policy.WithSecondary(key, l.secondaryID)
	return policy, policy.Err()
}

func (l labeling) label(policy *redact.Policy, aliases map[string]string, name string) labeled {
	labels := policy.Labels(name)
	if l.literal {
		labels = policy.LiteralLabels(name)
	}
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
