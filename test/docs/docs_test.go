// Package docs holds what the pages under docs say to what there is: metrics,
// alerts, queries and links.
package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

const root = "../.."

// pages are the texts of the repository, written by hand or generated, by file.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && file != root && (strings.HasPrefix(name, ".") || name == "bin" || name == "node_modules" || name == "testdata") {
			return fs.SkipDir
		}
		if !entry.IsDir() && strings.HasSuffix(name, ".md") {
			all[file] = read(t, file)
		}
		return nil
	})
	if err != nil || len(all) < 50 {
		t.Fatalf("%d pages: %v", len(all), err)
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
			if strings.HasPrefix(name, "leader_election_") || strings.HasSuffix(name, "_") {
				continue // of client-go, or a group such as leader_backend_*
			}
			for _, wrong := range unknown(name) {
				t.Errorf("%s: %s: %s", file, name, wrong)
			}
		}
	}
}

// added are labels that no metric declares: those of buckets, of scrapes and of
// aliases.
var added = []string{"le", "alias", "cluster", "namespace", "job", "instance", "pod"}

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
		case key == catalog.LockName.Name() && m.PerLock(), slices.Contains(added, key):
		case !has:
			wrong = append(wrong, "no label "+key)
		case found != nil && own.Values() != nil:
			for value := range strings.SplitSeq(strings.ReplaceAll(found[2], `\|`, "|"), "|") { // as in a table
				if value != "" && !slices.Contains(own.Values(), value) {
					wrong = append(wrong, "no value "+value)
				}
			}
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
		`\| NoLeader critical \| 30s \| [^|]* \| [^|]* \| ([0-9.]+) \|`:                                                    "| %s (NoLeader) |",
		`\| client-go's gauge is 0 everywhere, for 2m \| 30s \| [^|]* \| [^|]* \| ([0-9.]+) \|`:                            "| %s (no leader for 2m) |",
		`\| kube-state-metrics: .*? \| 30s \| [^|]* \| [^|]* \| ([0-9.]+) \|`:                                              "| %s (lease not renewed for 5m) |",
		`\| bluetape4k-leader: .*? \| 30s \| [^|]* \| [^|]* \| ([0-9.]+) \|`:                                               "| %s (no acquisition in 5m) |",
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
		`leader_renewals_total{result=~"error|timeout"}`:      "",
		`leader_renewals_total{result=~"error|late"}`:         "no value late",
		`leader_active{namespace="shop", job="api"}`:          "",
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
