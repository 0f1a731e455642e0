// Command metricsdoc writes docs/metrics.md from the catalogue.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: metricsdoc FILE")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], page(), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func page() []byte {
	var b bytes.Buffer
	b.WriteString(`<!-- Generated from instrument/catalog; make it again with: make generate -->
# Metrics

Every series also carries ` + "`lock_name`" + `, the label of the lock, except those of the process itself: ` + process() + `.
leaderscope adds no ` + "`job`" + ` or ` + "`instance`" + ` of its own: they come from the scrape or the resource.
A series that cannot be known is absent, not 0. A histogram is absent until its first observation.

| Prometheus | OpenTelemetry | type, unit | labels | meaning | present | stability |
|---|---|---|---|---|---|---|
`)
	for _, m := range catalog.All() {
		fmt.Fprintf(&b, "| <a id=\"%[1]s\"></a>`%[1]s` | `%s` | %s | %s | %s | %s | %s |\n", m.Name(), m.OTel(), kind(m), labels(m), m.Help(), m.Present(), stability(m))
	}
	b.WriteString(`
Stable metrics keep name, unit, labels and meaning within a major version; experimental ones may change with any, and the changelog says so.

## PromQL to start from

Group by the labels that tell your locks apart, such as ` + "`namespace`" + `, in addition to ` + "`lock_name`" + `.
With native histograms leave out ` + "`_bucket` and `le`" + `; the share of a range is ` + "`histogram_fraction(0.8, +Inf, rate(leader_lease_usage_ratio[1h]))`" + `.

| metric | expression |
|---|---|
`)
	for _, m := range catalog.All() {
		fmt.Fprintf(&b, "| `%s` | `%s` |\n", m.Name(), start(m))
	}
	b.WriteString("\n## Values of closed labels\n\n")
	for _, m := range catalog.All() {
		for _, l := range m.Labels() {
			if l.Values() != nil {
				fmt.Fprintf(&b, "- `%s` of `%s`: %s\n", l.Name(), m.Name(), code(l.Values()))
			}
		}
	}
	b.WriteString("\n## Histogram bounds\n\nNo bound is an integer: a scrape stores `le=\"1.0\"` where an OTLP push stores `le=\"1\"`.\n\n")
	for _, m := range catalog.All() {
		if m.Kind() == catalog.Histogram {
			fmt.Fprintf(&b, "- `%s`: %s\n", m.Name(), bounds(m))
		}
	}
	return b.Bytes()
}

// process lists the metrics that belong to no lock.
func process() string {
	var names []string
	for _, m := range catalog.All() {
		if !m.PerLock() {
			names = append(names, m.Name())
		}
	}
	return code(names)
}

func kind(m *catalog.Metric) string {
	if m.Unit() == "" {
		return string(m.Kind())
	}
	return string(m.Kind()) + ", " + m.Unit()
}

func stability(m *catalog.Metric) catalog.Stability { return cmp.Or(m.Stability(), catalog.Stable) }

func labels(m *catalog.Metric) string {
	var names []string
	for _, l := range m.Labels() {
		names = append(names, "`"+l.Name()+"`")
	}
	return strings.Join(names, ", ")
}

func code(values []string) string { return "`" + strings.Join(values, "`, `") + "`" }

func bounds(m *catalog.Metric) string {
	parts := make([]string, len(m.Bounds()))
	for i, b := range m.Bounds() {
		parts[i] = fmt.Sprint(b)
	}
	return strings.Join(parts, ", ")
}
