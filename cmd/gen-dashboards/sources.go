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
		Short: "Print which alerts are possible with the metrics of client-go and kube-state-metrics",
		Long: "sources prints for each alert whether it is possible with the metrics of client-go and of kube-state-metrics, how soon\n" +
			"it fires, or why it is not possible. The output is docs/sources.md without its introduction.",
		Args: cobra.NoArgs,

		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, _ []string) error {
			config, _, err := load(file)
			if err != nil {
				return err
			}
			config.Recording = false // there are no recording rules for foreign series
			if err := printSources(c.OutOrStdout(), config); err != nil {
				return failure{err}
			}
			return nil
		},
	}
	c.Flags().StringVar(&file, "config", "", "the configuration `file` (default: the built-in configuration)")
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
		rows := fmt.Sprintf("## `source: %s`\n\n| alert | possible | soonest | latest | what it does not detect, or why it is not possible |\n|---|---|---|---|---|\n", source)
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
