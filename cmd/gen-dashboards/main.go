// Command gen-dashboards writes the dashboards and alerting rules of
// leaderscope in all supported formats. It also prints the label of a lock name,
// how soon each alert fires, and the default configuration.
//
// The exit code is 0 on success, 1 if files could not be written or --check found
// a difference, and 2 if the command line or the configuration is wrong. If one
// format cannot express the configuration, the exit code is 2 as well, but the
// other formats are written.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/internal/output"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// The exit codes.
const (
	exitFine   = 0
	exitFailed = 1
	exitMisuse = 2
)

func run(args []string, stdout, stderr io.Writer) int {
	c := command()
	c.SetArgs(args)
	c.SetOut(stdout)
	c.SetErr(stderr)
	err := c.ExecuteContext(context.Background())
	if err == nil {
		return exitFine
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintln(stderr, "gen-dashboards:", strings.TrimSpace(line))
	}
	var attempt failure
	if errors.As(err, &attempt) {
		return exitFailed
	}
	return exitMisuse
}

// failure is an error that is not caused by the command line or the
// configuration.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

func command() *cobra.Command {
	var g generation
	c := &cobra.Command{
		Use:   "gen-dashboards --out DIR [--config FILE] [--format FORMAT,...] [--check]",
		Short: "Write leaderscope's dashboards and alerting rules",
		Long: "gen-dashboards writes leaderscope's dashboards and alerting rules into a directory, one folder per format:\n\n" +
			describeFormats(),
		Example: "  gen-dashboards --out monitoring\n" +
			"  gen-dashboards config > leaderscope.yaml\n" +
			"  gen-dashboards --out monitoring --config leaderscope.yaml --check",
		Args:                  cobra.NoArgs,
		SilenceErrors:         true,
		DisableFlagsInUseLine: true,
		SilenceUsage:          true,
		CompletionOptions:     cobra.CompletionOptions{DisableDefaultCmd: true},
		Version:               instrument.Version,
		PersistentPreRunE:     func(c *cobra.Command, _ []string) error { return noneEmpty(c.Flags()) },
		RunE:                  func(c *cobra.Command, _ []string) error { return g.run(c.Context(), c.OutOrStdout()) },
	}
	c.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	f := c.Flags()
	f.StringVar(&g.out, "out", "", "the `directory` to write to; created if it does not exist")
	f.StringVar(&g.config, "config", "", "the configuration `file` (default: the output of the command config)")
	f.StringSliceVar(&g.formats, "format", nil, "the `formats` to write, separated by commas (default: all that are not marked as on request)")
	f.BoolVar(&g.check, "check", false, "write nothing; list the files that are not up to date, and exit with 1 if there are any")
	c.AddCommand(labelCommand(), aliasesCommand(), configCommand(), detectCommand(), sourcesCommand())
	return c
}

// generation is one run of the generator.
type generation struct {
	out, config string
	formats     []string
	check       bool
}

// noneEmpty refuses a flag with an empty value, which often comes from an unset
// shell variable: using the default instead would be a surprise.
func noneEmpty(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if v := f.Value.String(); err == nil && (v == "" || v == "[]") {
			err = fmt.Errorf("--%s is empty; pass a value, or omit the flag", f.Name)
		}
	})
	return err
}

func (g generation) run(ctx context.Context, stdout io.Writer) error {
	if g.out == "" {
		return errors.New("--out is missing: pass the directory to write to")
	}
	formats, err := pick(g.formats)
	if err != nil {
		return err
	}
	c, d, err := load(g.config)
	if err != nil {
		return err
	}
	if formats == nil {
		formats = usual(c.Source)
	}
	var files []output.File
	var refused []error
	for _, f := range formats {
		made, err := f.make(c)
		if keys := refusals(err); keys != nil {
			refused = append(refused, keys...)
			continue
		}
		if err != nil {
			return failure{fmt.Errorf("format %s: %w", f.name, err)}
		}
		files = append(files, made...)
	}
	if g.check {
		err = g.compare(stdout, files)
	} else {
		err = g.write(ctx, stdout, files)
	}
	return errors.Join(d.report(refused...), err)
}

// refusals returns the keys of a valid configuration that one format cannot
// express, and nil for any other error.
func refusals(err error) (keys []error) {
	for _, err := range joined(err) {
		bad, ok := err.(*alerts.KeyError)
		if !ok {
			return nil
		}
		keys = append(keys, &keyError{key: ruleKey(bad.Key), problem: bad.Problem})
	}
	return keys
}

func (g generation) compare(stdout io.Writer, files []output.File) error {
	findings, err := output.Check(g.out, files)
	if err != nil {
		return failure{err}
	}
	stale := 0
	for _, f := range findings {
		if f.State == output.Same {
			continue
		}
		stale++
		fmt.Fprintln(stdout, strings.TrimSuffix(fmt.Sprintf("%s: %s: %s", f.Path, f.State, f.Detail), ": "))
	}
	if stale > 0 {
		return failure{fmt.Errorf("%d of %d files in %s are not up to date; run the same command without --check", stale, len(files), g.out)}
	}
	return nil
}

func (g generation) write(ctx context.Context, stdout io.Writer, files []output.File) error {
	ctx, stop := untilSignal(ctx)
	defer stop()
	findings, err := output.Write(ctx, g.out, files)
	if err != nil {
		return failure{err}
	}
	for _, f := range findings {
		did := "wrote"
		if f.State == output.Same {
			did = "kept"
		}
		fmt.Fprintln(stdout, did, f.Path)
	}
	return nil
}

// untilSignal returns a context that ends with SIGINT and SIGTERM. It is not used
// while input is read, so that a signal can end the program there.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}
