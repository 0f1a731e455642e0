package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/leaderscope/leaderscope/redact"
)

func labelCommand() *cobra.Command {
	var keyFile, keyID string
	c := &cobra.Command{
		Use:   "label --key-file F --key-id ID NAME...",
		Short: "Say which label each lock name has",
		Long: "label prints, for each lock name, the hash that stands for it in metrics, a tab, and the name.\n" +
			"Key and id have to be those of the service. Names that a rule of the service covers have that rule's label instead.",
		Args: cobra.MinimumNArgs(1),

		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, names []string) error {
			if keyFile == "" || keyID == "" {
				return errors.New("--key-file and --key-id are both needed")
			}
			return printLabels(c.OutOrStdout(), keyFile, keyID, names)
		},
	}
	c.Flags().StringVar(&keyFile, "key-file", "", "the `file` with the key, as the service reads it")
	c.Flags().StringVar(&keyID, "key-id", "", "the `id` of the key, as the service has it")
	return c
}

func printLabels(w io.Writer, keyFile, keyID string, names []string) error {
	key, err := redact.ReadKeyFile(keyFile)
	if err != nil {
		return err
	}
	policy, err := redact.Hash(key, keyID)
	if err != nil {
		return err
	}
	for _, n := range names {
		shown := n
		if strings.ContainsFunc(n, unicode.IsControl) {
			shown = strconv.Quote(n) // one line per name, whatever is in it
		}
		if _, err := fmt.Fprintf(w, "%s\t%s\n", policy.Label(n).Text, shown); err != nil {
			return failure{err}
		}
	}
	return nil
}
