// Command bench measures what leaderscope costs and prints it as ratios: each
// number against a hand-written baseline that records or shows the same, from
// one run on one machine. Redirected to docs/benchmarks.md it is that page.
package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/leaderscope/leaderscope/exporter/prom"
)

// rounds are taken in turns, so that all variants meet the same noise; the
// best of each counts.
const rounds = 5

func main() {
	testing.Init()
	page := &bytes.Buffer{}
	fmt.Fprintf(page, "<!-- Generated; make it again with: go run ./internal/bench >docs/benchmarks.md -->\n# What it costs\n\n")
	fmt.Fprintf(page, "Ratios of one run, not promises in nanoseconds: variants in turns, the best of %d rounds.\n%s.\n\n", rounds, machine())
	recording(page)
	memory(page)
	collecting(page)
	if _, err := page.WriteTo(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
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

type variant struct {
	name  string
	run   func(*testing.B)
	nanos float64
	alloc int64
}

func recording(w io.Writer) {
	ours := &variant{name: "leaderscope, exporter/prom", run: through(withProm())}
	native := &variant{name: "leaderscope, exporter/prom with native histograms and exemplars", run: through(withProm(prom.WithHistograms(prom.Native), prom.WithExemplars()))}
	cached := &variant{name: "client_golang, children kept", run: clientCached}
	lookup := &variant{name: "client_golang, WithLabelValues at each call", run: clientLookup}
	otel := &variant{name: "leaderscope, exporter/otelmetric", run: through(withOTel)}
	sync := &variant{name: "OpenTelemetry, all synchronous, options kept", run: otelCached}
	naive := &variant{name: "OpenTelemetry, attributes made at each call", run: otelNaive}
	all := []*variant{ours, native, cached, lookup, otel, sync, naive}
	for range rounds {
		for _, v := range all {
			v.measure()
		}
	}
	fmt.Fprintf(w, "## Recording: one acquisition and its release\n\nLabels are hashed, exemplars off. The one allocation of leaderscope is the term that the caller gets.\n\n")
	fmt.Fprintf(w, "| | ns | allocations |\n|---|--:|--:|\n")
	for _, v := range all {
		fmt.Fprintf(w, "| %s | %.0f | %d |\n", v.name, v.nanos, v.alloc)
	}
	target := newTargets(w)
	target.most("exporter/prom against client_golang with children kept", ours.nanos/cached.nanos, 0.8)
	target.least("client_golang with WithLabelValues against exporter/prom", lookup.nanos/ours.nanos, 3)
	target.most("exporter/otelmetric against OpenTelemetry with attributes made at each call", otel.nanos/naive.nanos, 0.25)
	target.most("exporter/otelmetric against OpenTelemetry all synchronous, options kept", otel.nanos/sync.nanos, 0.6)
	target.most("allocations of leaderscope beyond the term, worst of three", float64(max(ours.alloc, native.alloc, otel.alloc)-1), 0)
}

func (v *variant) measure() {
	r := testing.Benchmark(v.run)
	n := float64(r.T.Nanoseconds()) / float64(r.N)
	if v.nanos == 0 {
		v.nanos = math.Inf(1)
	}
	v.nanos, v.alloc = min(v.nanos, n), r.AllocsPerOp()
}

func memory(w io.Writer) {
	fmt.Fprintf(w, "\n## Memory: what a lock keeps\n\n%d locks, after one acquisition of each and one collection; the rows with an exporter include the core.\n", locks)
	fmt.Fprintf(w, "Native histograms are client_golang's; with them a lock keeps %.0f bytes.\n", weight(keepProm(prom.WithHistograms(prom.Native))))
	target := newTargets(w)
	target.most("core, bytes", weight(keepCore), 800)
	target.most("core and exporter/prom, bytes", weight(keepProm()), 4500)
	target.most("core, exporter/otelmetric and the SDK, bytes", weight(keepOTel), 3000)
}

func collecting(w io.Writer) {
	ours, bare, keep := registries()
	var best, base gathering
	for i := range rounds {
		o, b := gather(ours), gather(bare)
		if i == 0 || o.took < best.took {
			best = o
		}
		if i == 0 || b.took < base.took {
			base = b
		}
	}
	runtime.KeepAlive(keep)
	fmt.Fprintf(w, "\n## Collection: %d locks\n\nA registry with exporter/prom against one written by hand with the same series.\n\n", locks)
	fmt.Fprintf(w, "| | series | ms | allocations | MB |\n|---|--:|--:|--:|--:|\n")
	for _, row := range []struct {
		name string
		gathering
	}{{"leaderscope", best}, {"client_golang by hand", base}} {
		fmt.Fprintf(w, "| %s | %d | %.0f | %d | %.0f |\n", row.name, row.series, row.took.Seconds()*1e3, row.allocs, float64(row.bytes)/1e6)
	}
	target := newTargets(w)
	target.most("time", best.took.Seconds()/base.took.Seconds(), 1.2)
	target.most("allocations", float64(best.allocs)/float64(base.allocs), 1.2)
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
