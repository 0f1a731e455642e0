package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/dashboards"
	"github.com/leaderscope/leaderscope/internal/condition"
)

func boards(t *testing.T) []board {
	t.Helper()
	all, err := generated(dashboards.Default())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestThePageIsTheOneInDocs(t *testing.T) {
	found, err := os.ReadFile("../../docs/panels.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := page(boards(t)); !bytes.Equal(found, want) {
		t.Errorf("docs/panels.md is old; run make generate (-docs +generated):\n%s", cmp.Diff(string(found), string(want)))
	}
}

func TestThePageLinksEveryAlertAndHasEveryPanelOnce(t *testing.T) {
	all := boards(t)
	text := string(page(all))
	rules, err := alerts.Rules(alerts.Default())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		if !strings.Contains(text, "/"+r.Name+".md)") {
			t.Errorf("no panel names %s: list its condition in states or jobs of internal/condition", r.Name)
		}
	}
	described := map[uint32]int{}
	for _, b := range all {
		for _, p := range b.Panels {
			if p.Type != "row" {
				described[p.ID] = strings.Count(text, "\n"+p.Description+"\n")
			}
		}
	}
	for id, times := range described {
		if times != 1 {
			t.Errorf("panel %d is described %d times", id, times)
		}
	}
}

func TestConditionsNamePanelsThatThereAre(t *testing.T) {
	all := boards(t)
	there := func(id int) bool {
		return slices.ContainsFunc(all, func(b board) bool {
			return slices.ContainsFunc(b.Panels, func(p boardPanel) bool { return int(p.ID) == id && p.Type != "row" })
		})
	}
	for _, c := range condition.All() {
		if c.Alert != "" && !there(c.Panel) || c.Tile != 0 && !there(c.Tile) {
			t.Errorf("%s: panel %d, tile %d", c.Alert, c.Panel, c.Tile)
		}
	}
}

func TestAPanelSaysWhatIsGoodAndWhatIsTrouble(t *testing.T) {
	text := map[string]string{}
	for _, b := range boards(t) {
		for _, p := range b.Panels {
			text[b.name+": "+p.Title] = strings.Join(append(p.colours(), p.alerts()...), "\n")
		}
	}
	book := func(name string) string { return "[" + name + "](../alerts/runbooks/LeaderElection" + name + ".md)" }
	for panel, want := range map[string][]string{
		// Limits of all series, and those of one of its queries.
		"overview: Without a leader": {"Green: below 1", "Orange: from 1", "Red: `alert pages` from 1", book("NoLeader")},
		"overview: Lease left":       {"Green: from 20 %", "Orange: 0 % to 20 %", "Red: below 0 %", book("LowHeadroom")},
		"lock: Lease left now":       {"Green: from 20 %", "Orange: 0 % to 20 %", "Red: below 0 %, `time` below 0 s"},
		// A list is empty when nothing is wrong.
		"overview: Works without lock": {"Red: every entry", book("WorkAfterLoss")},
		// Words, in the order of their numbers.
		"lock: Replicas scraped": {"Green: `up`", "Orange: `down`", book("LockVanished")},
		"overview: Alerts firing": {"Orange: `Severity` is `warning`", "Red: `Severity` is `critical`",
			"each that fires"},
		// A line that turns red with its first event, in each direction.
		"lock: Terms gained and ended":   {"Green: `gained`", "Orange: `expired`, `gave_up`", "Red: `lost`, `release_failed`, `token went back`", book("Flapping")},
		"lock: Writes checked by stores": {"Green: `admitted`", "Orange: `missing`", "Red: `stale`", book("StaleWrite")},
		// No limit: the alert has one.
		"overview: Waiting for a lock": {book("AttemptStuck")},
	} {
		if diff := cmp.Diff(strings.Join(want, "\n"), text[panel]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", panel, diff)
		}
	}
	if table := text["overview: Locks"]; !strings.Contains(table, "`Lease left` below 0 %, `Backend errors` from 50 %") {
		t.Errorf("the table of locks: %s", table)
	}
}

func TestAPanelLinksTheMetricsItReads(t *testing.T) {
	var p boardPanel
	for _, b := range boards(t) {
		if i := slices.IndexFunc(b.Panels, func(p boardPanel) bool { return p.Title == "Share of the lease used" }); i >= 0 && b.name == "lock" {
			p = b.Panels[i]
		}
	}
	want := []string{"[`leader_lease_usage_ratio`](metrics.md#leader_lease_usage_ratio)"}
	if diff := cmp.Diff(want, p.metrics()); diff != "" {
		t.Errorf("a histogram, by its buckets and natively (-want +got):\n%s", diff)
	}
}

func TestThePanelsOfOtherSourcesNameTheirMetricsAndAlerts(t *testing.T) {
	got, all := map[string]string{}, boards(t)
	for _, b := range all {
		for _, p := range b.Panels {
			if p.foreign && p.Type != "row" {
				if len(p.metrics()) == 0 {
					t.Errorf("%s: %s reads nothing", b.name, p.Title)
				}
				got[b.name+": "+p.Title] = strings.Join(p.metrics(), ", ") + " / " + strings.Join(p.alerts(), ", ")
			}
		}
	}
	book := func(name string) string { return "[" + name + "](../alerts/runbooks/LeaderElection" + name + ".md)" }
	for panel, want := range map[string]string{
		"client-go: Leadership won or lost":           "`leader_election_master_status` / " + book("Flapping"),
		"client-go: Renewals that met another writer": "`leader_election_slowpath_total` / " + book("RenewalFailures"),
		"client-go: Alerts firing":                    "`ALERTS` / each that fires",
		"leases: Age of the last renewal":             "`kube_lease_renew_time` / ",
	} {
		if got[panel] != want {
			t.Errorf("%s: %s, want %s", panel, got[panel], want)
		}
	}
	text := string(page(all))
	for _, s := range []alerts.Source{alerts.ClientGo, alerts.KubeStateMetrics} {
		rules, err := rulesOf(s)
		if err != nil || len(rules) == 0 {
			t.Fatal(len(rules), err)
		}
		for _, r := range rules {
			if !slices.ContainsFunc(all, func(b board) bool {
				return slices.ContainsFunc(b.Panels, func(p boardPanel) bool {
					return p.foreign && slices.Contains(p.alerts(), book(strings.TrimPrefix(r.Name, "LeaderElection")))
				})
			}) {
				t.Errorf("no panel of %s names %s", s, r.Name)
			}
		}
	}
	if strings.Contains(text, "Reads: \n") {
		t.Error("a panel reads nothing")
	}
}
