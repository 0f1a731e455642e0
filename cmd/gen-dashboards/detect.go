package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/prometheus/common/model"
	"github.com/spf13/cobra"

	"github.com/leaderscope/leaderscope/alerts"
)

func detectCommand() *cobra.Command {
	var file string
	var pace alerts.Pace
	c := &cobra.Command{
		Use:   "detect [--config FILE] [--lease 15s] [--evaluation 30s]",
		Short: "Print how soon each alert fires and what it does not detect",
		Long: "detect prints for each alert of a configuration how soon it fires, at best and at worst, and what it does not detect.\n" +
			"The times apply if targets are scraped and rules are evaluated at the configured intervals.",
		Example: "  gen-dashboards detect --config leaderscope.yaml --lease 30s",
		Args:    cobra.NoArgs,

		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case pace.Lease <= 0:
				return fmt.Errorf("--lease: %s is not a valid lease duration; use one such as 15s", pace.Lease)
			case pace.Evaluation < 0:
				return fmt.Errorf("--evaluation: %s is negative; use a time such as 30s", pace.Evaluation)
			}
			config, _, err := load(file)
			if err != nil {
				return err
			}
			all, err := alerts.Detect(config.rules(), pace)
			if err != nil {
				return err
			}
			if err := printDetections(c.OutOrStdout(), all); err != nil {
				return failure{err}
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&file, "config", "", "the configuration `file` (default: the built-in configuration)")
	f.DurationVar(&pace.Lease, "lease", 15*time.Second, "the `duration` of the lease")
	f.DurationVar(&pace.Evaluation, "evaluation", 0, "the `interval` between evaluations, if the configuration leaves it to the server (default: the scrape interval)")
	return c
}

func printDetections(out io.Writer, all []alerts.Detection) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ALERT\tSEVERITY\tSOONEST\tLATEST\tAFTER\tNOT DETECTED")
	for _, d := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", d.Alert, d.Severity, model.Duration(d.Soonest), model.Duration(d.Latest), d.From, d.Unseen)
	}
	return w.Flush()
}
