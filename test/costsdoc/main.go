// Command costsdoc writes the tables of what a lock costs into their place in
// docs/lock-names.md, from the catalogue, the rules, docs/query-cost.md and
// docs/benchmarks.md:
//
//	cd test && go run ./costsdoc ../docs
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: costsdoc DOCS")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "costsdoc:", err)
		os.Exit(1)
	}
}

func write(docs string) error {
	text, err := rewritten(docs)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(docs, page), text, 0o644)
}

const page = "lock-names.md"

// The place for the tables.
const begin, end = "<!-- costs: generated, make generate -->\n", "<!-- /costs -->\n"

// rewritten is the page with the tables of now.
func rewritten(docs string) ([]byte, error) {
	var texts [3][]byte
	for i, name := range []string{page, "query-cost.md", "benchmarks.md"} {
		var err error
		if texts[i], err = os.ReadFile(filepath.Join(docs, name)); err != nil {
			return nil, err
		}
	}
	head, rest, marked := bytes.Cut(texts[0], []byte(begin))
	_, tail, closed := bytes.Cut(rest, []byte(end))
	if !marked || !closed {
		return nil, fmt.Errorf("%s: no place from %q to %q", page, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	tables, err := costs(texts[1], texts[2])
	if err != nil {
		return nil, err
	}
	return slices.Concat(head, []byte(begin), tables, []byte(end), tail), nil
}

// Rows of the measurements.
var (
	rulesRow  = regexp.MustCompile(`(?m)^\| 1000 \| \d+ \| [^|]*\| [^|]*\| [^|]*\| (\d+ ms) \| [^|]*\| (\d+ ms) \|$`)
	serverRow = regexp.MustCompile(`(?m)^\| one replica leads, the others wait \| (\d+) \| \d+ \| (\d+ MB) \| [^|]* \| ([0-9.]+ kB) \|`)
	memoryRow = regexp.MustCompile(`(?m)^\| core and exporter/prom, bytes \| (\d+)`)
)

func costs(queryCost, benchmarks []byte) ([]byte, error) {
	rules, memory := rulesRow.FindSubmatch(queryCost), memoryRow.FindSubmatch(benchmarks)
	server := serverRow.FindSubmatch(queryCost)
	if rules == nil || memory == nil || server == nil {
		return nil, fmt.Errorf("query-cost.md has no row of 1000 locks (%v) or of a server's memory (%v), or benchmarks.md none of the memory (%v)", rules == nil, server == nil, memory == nil)
	}
	idle, err := standby()
	if err != nil {
		return nil, err
	}
	readers, err := alertsOf()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("| group | series on a standby | at most | at most, with native histograms only | alerts that read it |\n|---|--:|--:|--:|---|\n")
	var all, allNative, allIdle int
	for _, g := range groups() {
		classic, native := most(g)
		all, allNative, allIdle = all+classic, allNative+native, allIdle+idle[g]
		name := "`catalog.Group" + strings.ToUpper(string(g[:1])) + string(g[1:]) + "`"
		if g == catalog.GroupCore {
			name = "always exported"
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %s |\n", name, idle[g], classic, native, strings.Join(readers[g], ", "))
	}
	fmt.Fprintf(&b, "| together | %d | %d | %d | |\n", allIdle, all, allNative)
	fmt.Fprintf(&b, "\nFor 1,000 locks on three replicas, all alerts take %s of processor time for each 30 s, and the recording rules %s ([measured](query-cost.md#one-evaluation-of-the-rule-groups)).\n"+
		"A Prometheus server that scrapes them keeps %s series in %s of memory, which is %s for each ([measured](query-cost.md#memory-of-a-server-that-scrapes)): multiply by the series that a group gives back.\n"+
		"In the service, a lock keeps %s bytes ([measured](benchmarks.md#memory-what-a-lock-keeps)).\n", rules[1], rules[2], server[1], server[2], server[3], memory[1])
	return b.Bytes(), nil
}

// groups are those with series of a lock, in the order of the catalogue. Series of a
// backend come from an observer.
func groups() (all []catalog.Group) {
	for _, m := range catalog.All() {
		if m.PerLock() && m.Group() != catalog.GroupBackend && !slices.Contains(all, m.Group()) {
			all = append(all, m.Group())
		}
	}
	return all
}

// most counts the series of a group that one lock can have in a process that
// campaigns, with classic and with native histograms.
func most(g catalog.Group) (classic, native int) {
	for _, m := range catalog.All() {
		switch {
		case m.Group() != g || !m.PerLock() || strings.HasPrefix(m.Present(), "in a process that guards"):
		case m.Kind() == catalog.Histogram:
			classic, native = classic+m.Series(), native+1
		case m == catalog.ElectorInfo: // a lock has one mode
			classic, native = classic+1, native+1
		default:
			classic, native = classic+m.Series(), native+m.Series()
		}
	}
	return classic, native
}

// standby counts the series of a lock that another replica holds, by group.
func standby() (map[catalog.Group]int, error) {
	m, err := instrument.New()
	if err != nil {
		return nil, err
	}
	m.Election("orders", instrument.Hold(), instrument.LeaseDuration(15*time.Second), instrument.Backend("etcd")).Begin(context.Background())
	found := map[catalog.Group]int{}
	m.Collect(func(s *instrument.Sample) {
		if s.Metric.PerLock() {
			found[s.Metric.Group()]++
		}
	})
	return found, nil
}

// alertsOf links the alerts that read a metric of a group.
func alertsOf() (map[catalog.Group][]string, error) {
	rules, err := alerts.Rules(alerts.Default())
	if err != nil {
		return nil, err
	}
	found := map[catalog.Group][]string{}
	for _, r := range rules {
		link := fmt.Sprintf("[%s](../alerts/runbooks/%s.md)", strings.TrimPrefix(r.Name, alerts.Prefix), r.Name)
		for _, name := range regexp.MustCompile(`[a-z_]+`).FindAllString(r.Expr, -1) {
			if m, ok := catalog.ByName(name); ok && m.Group() != catalog.GroupCore && !slices.Contains(found[m.Group()], link) {
				found[m.Group()] = append(found[m.Group()], link)
			}
		}
	}
	return found, nil
}
