package docs

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/promcheck"
	"github.com/leaderscope/leaderscope/internal/promeval"
)

var fence = regexp.MustCompile("(?s)```promql\n(.*?)```")

// queries of a block: one in each paragraph, or one in each line.
func queries(block string) (all []string) {
	for paragraph := range strings.SplitSeq(strings.TrimSpace(block), "\n\n") {
		if _, err := parser.NewParser(parser.Options{}).ParseExpr(paragraph); err == nil {
			all = append(all, paragraph)
			continue
		}
		all = append(all, strings.Split(strings.TrimSpace(paragraph), "\n")...)
	}
	return all
}

func TestQueriesOfThePagesAreAnswered(t *testing.T) {
	found, fleet := 0, ambiguous(t)
	for file, text := range pages(t) {
		for _, block := range fence.FindAllStringSubmatch(text, -1) {
			found += check(t, fleet, file, queries(block[1])...)
		}
		for _, span := range inline.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			found += check(t, fleet, file, strings.ReplaceAll(span[1], `\|`, "|")) // as in a table
		}
	}
	if found < 50 {
		t.Errorf("%d queries were found", found)
	}
}

// inline is a query within a line: an aggregation, and not the name of one.
var (
	fenced = regexp.MustCompile("(?s)```.*?```")
	inline = regexp.MustCompile("`((?:count|sum|max|min|avg|histogram_quantile|time|rate|increase)\\b[^`\n]*\\b(?:leader|kube_lease)_[^`\n]*)`")
)

// check reports what is wrong with queries of a page, and counts them.
func check(t *testing.T, fleet *promeval.Store, file string, queries ...string) int {
	t.Helper()
	for _, query := range queries {
		query = strings.TrimSpace(query)
		for _, problem := range promcheck.Expr(query, promcheck.AcrossLocks(), promcheck.Foreign(foreign...)) {
			t.Errorf("%s: %s: %v", file, query, problem)
		}
		if _, err := fleet.Query(t.Context(), query, time.Unix(7200, 0)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	return len(queries)
}

// foreign are metrics of others that pages compare ours with.
var foreign = []string{"leader_election_master_status", "leader_election_slowpath_total", "kube_lease_owner", "kube_lease_renew_time"}

// ambiguous is a fleet in which a label says as little as it can: two replicas,
// and for one lock two values of every label, of the backend and the family too.
// A join that takes one for granted fails on it.
func ambiguous(t *testing.T) *promeval.Store {
	t.Helper()
	var series []promeval.Series
	for _, m := range catalog.All() {
		sets := []string{`cluster="CLUSTER",namespace="NAMESPACE",job="JOB",instance="a"`, `cluster="CLUSTER",namespace="NAMESPACE",job="JOB",instance="b"`}
		if m.PerLock() {
			sets = times(sets, "lock_name", []string{"LABEL", "reconciler"})
		}
		for _, l := range m.Labels() {
			values := l.Values()
			if values == nil {
				values = []string{"one", "two"}
			}
			sets = times(sets, l.Name(), values)
		}
		names := map[string][]string{m.Name(): sets}
		if m.Kind() == catalog.Histogram {
			names = map[string][]string{m.Name() + "_sum": sets, m.Name() + "_count": sets, m.Name() + "_bucket": times(sets, "le", []string{"0.8", "+Inf"})}
		}
		for name, sets := range names {
			for _, set := range sets {
				series = append(series, promeval.Series{Selector: name + "{" + set + "}", Values: "1+1x240"})
			}
		}
	}
	store, err := promeval.Load(series, 30*time.Second, promeval.V3)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// times gives each set of labels every value of another label.
func times(sets []string, label string, values []string) (all []string) {
	for _, set := range sets {
		for _, value := range values {
			all = append(all, fmt.Sprintf("%s,%s=%q", set, label, value))
		}
	}
	return all
}
