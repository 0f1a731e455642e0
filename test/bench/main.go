// Command bench measures what leaderscope costs and prints it as ratios: each
// number against a hand-written baseline that records or shows the same, from
// one run on one machine. Redirected to docs/benchmarks.md it is that page.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
)

func main() {
	testing.Init()
	if err := flag.Set("test.benchtime", duration); err != nil {
		fail(err)
	}
	page := &bytes.Buffer{}
	fmt.Fprintf(page, "<!-- Generated; make it again with: make bench >docs/benchmarks.md -->\n# What it costs\n\n")
	fmt.Fprintf(page, "Ratios of one run, not promises in nanoseconds: variants in turns, the best of %d rounds.\n%s.\n\n", rounds, machine())
	recording(page)
	running(page)
	lookups(page)
	fencing(page)
	memory(page)
	collecting(page)
	if _, err := page.WriteTo(os.Stdout); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func machine() string {
	return fmt.Sprintf("%s, %d of them used; %s %s/%s", processor(), runtime.GOMAXPROCS(0), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// processor is the processor's name where the system tells.
func processor() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "an unknown processor"
	}
	for line := range strings.Lines(string(info)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return fmt.Sprintf("%d × %s", runtime.NumCPU(), strings.TrimSpace(strings.TrimLeft(name, "\t :")))
		}
	}
	return fmt.Sprintf("%d processors", runtime.NumCPU())
}

// targets is a table of what was found beside what it should be.
type targets struct{ w io.Writer }

func newTargets(w io.Writer) targets {
	fmt.Fprintf(w, "\n| ratio or number | found | wanted | |\n|---|--:|--:|---|\n")
	return targets{w}
}

func (t targets) most(what string, found, limit float64) {
	t.row(what, found, "at most", limit, found <= limit)
}

func (t targets) least(what string, found, limit float64) {
	t.row(what, found, "at least", limit, found >= limit)
}

func (t targets) row(what string, found float64, word string, limit float64, met bool) {
	verdict := "met"
	if !met {
		verdict = "**not met**"
	}
	fmt.Fprintf(t.w, "| %s | %.4g | %s %.4g | %s |\n", what, found, word, limit, verdict)
}
