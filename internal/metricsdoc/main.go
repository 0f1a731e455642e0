// Command metricsdoc writes docs/metrics.md from the catalogue.
package main

import (
	"bytes"
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

Every series below except the last two metrics also carries ` + "`lock_name`" + `, the redacted name of the lock.
leaderscope adds no ` + "`job`" + ` or ` + "`instance`" + ` of its own: they come from the scrape or the resource.
A series that cannot be known is absent, not 0.

| Prometheus | OpenTelemetry | labels | meaning | there |
|---|---|---|---|---|
`)
	for _, m := range catalog.All() {
		fmt.Fprintf(&b, "| `%s` | `%s`<br>%s | %s | %s | %s |\n", m.Name, m.OTel, kind(m), labels(m), m.Help, m.Present)
	}
	b.WriteString("\n## Values of closed labels\n\n")
	for _, m := range catalog.All() {
		for _, l := range m.Labels {
			if l.Values != nil {
				fmt.Fprintf(&b, "- `%s` of `%s`: %s\n", l.Name, m.Name, code(l.Values))
			}
		}
	}
	b.WriteString("\n## Histogram bounds\n\nNo bound is an integer: a scrape stores `le=\"1.0\"` where an OTLP push stores `le=\"1\"`.\n\n")
	for _, m := range catalog.All() {
		if m.Kind == catalog.Histogram {
			fmt.Fprintf(&b, "- `%s`: %s\n", m.Name, bounds(m))
		}
	}
	return b.Bytes()
}

func kind(m *catalog.Metric) string {
	if m.Unit == "" {
		return string(m.Kind)
	}
	return string(m.Kind) + ", " + m.Unit
}

func labels(m *catalog.Metric) string {
	var names []string
	for _, l := range m.Labels {
		names = append(names, "`"+l.Name+"`")
	}
	return strings.Join(names, ", ")
}

func code(values []string) string { return "`" + strings.Join(values, "`, `") + "`" }

func bounds(m *catalog.Metric) string {
	parts := make([]string, len(m.Bounds))
	for i, b := range m.Bounds {
		parts[i] = fmt.Sprint(b)
	}
	return strings.Join(parts, ", ")
}
