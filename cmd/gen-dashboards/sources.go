package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/spf13/cobra"

	"github.com/leaderscope/leaderscope/alerts"
)

func sourcesCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "sources [--config FILE]",
		Short: "Say which alerts the series of client-go and of kube-state-metrics allow, how soon, and which not and why",
		Long: "sources says for each alert whether the series of client-go and of kube-state-metrics allow it, how soon it fires then,\n" +
			"and why not. It prints docs/sources.md but for the introduction.",
		Args: cobra.NoArgs,

		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, _ []string) error {
			config, _, err := load(file)
			if err != nil {
				return err
			}
			config.Recording = false // of which foreign series have none
			if err := printSources(c.OutOrStdout(), config); err != nil {
				return failure{err}
			}
			return nil
		},
	}
	c.Flags().StringVar(&file, "config", "", "the configuration `file`; without it, the default")
	return c
}

// printSources prints a table for each foreign source.
func printSources(out io.Writer, c config) error {
	for _, source := range alerts.Sources() {
		if !source.Foreign() {
			continue
		}
		c.Source = source
		all, err := alerts.Possibilities(c.rules())
		if err != nil {
			return err
		}
		rows := fmt.Sprintf("## `source: %s`\n\n| alert | possible | soonest | latest | what it does not see, or why there is none |\n|---|---|---|---|---|\n", source)
		for _, p := range all {
			yes, soonest, latest := "no", "", ""
			if p.Yes {
				yes, soonest, latest = "yes", model.Duration(p.Soonest).String(), model.Duration(p.Latest).String()
			}
			rows += fmt.Sprintf("| %s | %s | %s | %s | %s |\n", p.Alert, yes, soonest, latest, strings.ReplaceAll(p.Why, "|", `\|`))
		}
		if _, err := fmt.Fprintln(out, rows); err != nil {
			return err
		}
	}
	return nil
}
