// Package docs holds what the pages under docs say to what there is: metrics,
// alerts, queries and links.
package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/promcheck"
)

// pages are the texts that are written by hand or generated, by file.
func pages(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	all := map[string]string{}
	for _, file := range append(files, "../../README.md") {
		all[file] = read(t, file)
	}
	return all
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// named is a metric with matchers: each reads label="value".
var (
	named   = regexp.MustCompile(`\bleader_[a-z_]+(\{[^}]*\})?`)
	matcher = regexp.MustCompile(`^\s*([a-z_]+)\s*(?:=~?|!=|!~)\s*"([^"]*)"\s*$`)
)

func TestMetricsThatThePagesNameAreInTheCatalogue(t *testing.T) {
	for file, text := range pages(t) {
		for _, name := range named.FindAllString(text, -1) {
			if strings.HasPrefix(name, "leader_election_") {
				continue // of client-go
			}
			for _, wrong := range unknown(name) {
				t.Errorf("%s: %s: %s", file, name, wrong)
			}
		}
	}
}

// unknown says what is wrong with a metric and its labels.
func unknown(text string) (wrong []string) {
	name, labels, _ := strings.Cut(strings.TrimSuffix(text, "}"), "{")
	m, ok := catalog.ByName(name)
	if !ok {
		return []string{"no such metric"}
	}
	for label := range strings.SplitSeq(labels, ",") {
		if label = strings.TrimSpace(label); label == "" {
			continue
		}
		found := matcher.FindStringSubmatch(label)
		key := label
		if found != nil {
			key = found[1]
		}
		own, has := m.Label(key)
		switch {
		case key == catalog.LockName.Name() && m.PerLock(), key == "le", key == "alias":
		case !has:
			wrong = append(wrong, "no label "+key)
		case found != nil && own.Values() != nil && !slices.Contains(own.Values(), found[2]):
			wrong = append(wrong, "no value "+found[2])
		}
	}
	return wrong
}

func TestTheREADMECountsTheMetrics(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("All %d, with kinds, units, labels and buckets", len(catalog.All())); !strings.Contains(string(text), want) {
		t.Errorf("README.md does not say %q", want)
	}
}

// The README repeats figures of the page that is generated.
func TestTheREADMESaysHowGoodTheAlertsAre(t *testing.T) {
	page, err := os.ReadFile("../../docs/alert-quality.md")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for row, sentence := range map[string]string{
		`NoLeader critical: detection p95 after the lease has ended, scrape 30s \| .*? \| (\d+ s) \|`:                      "within %s of the end of its lease",
		`Overlap: recall of overlaps of 2 s and more, scrape 30s \| .*? \| (\d+ of \d+) \|`:                                "Overlap found %s times",
		`NoLeader critical: false pages per lock and week on the calm mix, scrape 30s \| .*? \| .*?\((\d+) in \d+ weeks\)`: "NoLeader paged falsely %s times",
	} {
		found := regexp.MustCompile(row).FindSubmatch(page)
		if found == nil {
			t.Errorf("docs/alert-quality.md has no row %s", row)
			continue
		}
		if want := fmt.Sprintf(sentence, found[1]); !strings.Contains(string(readme), want) {
			t.Errorf("README.md does not say %q", want)
		}
	}
}

func TestAMetricThatIsNotThereIsFound(t *testing.T) {
	for text, want := range map[string]string{
		"leader_active":                                       "",
		"leader_lease_usage_ratio_bucket":                     "",
		`leader_terms_ended_total{cause="released"}`:          "",
		`leader_running{lock_name=~"cleanup|import"}`:         "",
		"leader_elector_info{mode, backend, family}":          "",
		"leader_headroom_seconds":                             "no such metric",
		`leader_terms_ended_total{cause="stopped"}`:           "no value stopped",
		`leader_terms_ended_total{reason="released"}`:         "no label reason",
		`leader_redaction_overflows_total{lock_name="LABEL"}`: "no label lock_name",
	} {
		if got := strings.Join(unknown(text), ", "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// runbook is a link to the runbook of an alert.
var runbook = regexp.MustCompile(`\[([^\]]*)\]\([^)]*alerts/runbooks/([A-Za-z]+)\.md\)`)

func TestAlertsThatThePagesNameAreInTheRules(t *testing.T) {
	rules, err := alerts.Rules(alerts.Default())
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for file, text := range pages(t) {
		for _, found := range runbook.FindAllStringSubmatch(text, -1) {
			alert := found[2]
			if filepath.Base(file) == "checklist.md" {
				named[alert] = true
			}
			if !slices.ContainsFunc(rules, func(r alerts.Rule) bool { return r.Name == alert }) {
				t.Errorf("%s: no alert %s", file, alert)
			}
			if text := strings.Trim(found[1], "`"); text != "runbook" && text != alert && alerts.Prefix+text != alert {
				t.Errorf("%s: %s leads to the runbook of %s", file, found[1], alert)
			}
		}
	}
	for _, r := range rules {
		if !named[r.Name] {
			t.Errorf("checklist.md has no line that %s speaks of", r.Name)
		}
	}
}

var fence = regexp.MustCompile("(?s)```promql\n(.*?)```")

func TestQueriesOfTheGuidesPassTheStaticChecks(t *testing.T) {
	found := 0
	for file, text := range pages(t) {
		for _, block := range fence.FindAllStringSubmatch(text, -1) {
			for query := range strings.Lines(block[1]) {
				found++
				for _, problem := range promcheck.Expr(strings.TrimSpace(query), promcheck.AcrossLocks()) {
					t.Errorf("%s: %s: %v", file, strings.TrimSpace(query), problem)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no query was found")
	}
}

var (
	link = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
)

func TestLinksOfThePagesLeadSomewhere(t *testing.T) {
	for file, text := range pages(t) {
		for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(text, "code"), -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			path, anchor, _ := strings.Cut(found[1], "#")
			target := file
			if path != "" {
				target = filepath.Join(filepath.Dir(file), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s leads nowhere", file, found[1])
			} else if anchor != "" && !slices.Contains(anchors(read(t, target)), anchor) {
				t.Errorf("%s: %s has no heading %s", file, target, anchor)
			}
		}
	}
}

// anchors are those that GitHub makes of headings.
func anchors(text string) (all []string) {
	for line := range strings.Lines(text) {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			slug := strings.Map(func(r rune) rune {
				switch {
				case r == ' ':
					return '-'
				case strings.ContainsRune("-_", r) || r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
					return r
				default:
					return -1
				}
			}, strings.ToLower(strings.TrimSpace(title)))
			all = append(all, slug)
		}
	}
	return all
}
