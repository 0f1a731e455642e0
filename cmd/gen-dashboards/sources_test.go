package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/dashboards"
)

var update = flag.Bool("update", false, "write the generated part of docs/sources.md again")

// The page names each panel, and a panel of one source has no "yes" for the other.
func TestThePageOfSourcesNamesEachPanel(t *testing.T) {
	text, err := os.ReadFile("../../docs/sources.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{} // by the title of a panel: what each source shows
	for line := range strings.SplitSeq(string(text), "\n") {
		cells := strings.Split(line, " | ")
		if len(cells) != 3 {
			continue
		}
		for title := range strings.SplitSeq(strings.TrimPrefix(cells[0], "| "), ", ") {
			rows[title] = cells[1:]
		}
	}
	named := map[string]bool{}
	for i, source := range alerts.Sources()[1:] {
		c := defaultConfig()
		c.Source = source
		boards, err := dashboards.All(c.boards())
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range boards {
			var board struct {
				Panels []struct{ Type, Title string }
			}
			if err := json.Unmarshal(b.Data, &board); err != nil {
				t.Fatal(err)
			}
			for _, p := range board.Panels {
				if p.Type == "row" {
					continue
				}
				named[p.Title] = true
				if cells := rows[p.Title]; len(cells) != 2 || strings.HasPrefix(cells[i], "no") {
					t.Errorf("docs/sources.md does not say what %q of %s shows", p.Title, source)
				}
			}
		}
	}
	for title := range rows {
		if title != "panel" && !named[title] {
			t.Errorf("docs/sources.md names %q, which no dashboard has", title)
		}
	}
}

// An alert links to a panel that its dashboard has, and chooses its lock there.
func TestAlertsOfASourceLinkToItsDashboard(t *testing.T) {
	chosen := regexp.MustCompile(`&var-(\w+)=`)
	for _, source := range alerts.Sources()[1:] {
		c := defaultConfig()
		c.Source, c.Alerts.DashboardBaseURL = source, "https://grafana.example"
		boards, err := dashboards.All(c.boards())
		if err != nil {
			t.Fatal(err)
		}
		var board struct {
			UID        string
			Panels     []struct{ ID int }
			Templating struct{ List []struct{ Name string } }
		}
		if err := json.Unmarshal(boards[0].Data, &board); err != nil {
			t.Fatal(err)
		}
		var panels, variables []string
		for _, p := range board.Panels {
			panels = append(panels, fmt.Sprint(p.ID))
		}
		for _, v := range board.Templating.List[1:] { // after the data source
			variables = append(variables, v.Name)
		}
		rules, err := alerts.Rules(c.rules())
		if err != nil || len(rules) == 0 {
			t.Fatal(rules, err)
		}
		for _, r := range rules {
			id, url := r.Annotations["__panelId__"], r.Annotations["dashboard_url"]
			if r.Annotations["__dashboardUid__"] != board.UID || !slices.Contains(panels, id) {
				t.Errorf("%s of %s links to panel %s of %s", r.Name, source, id, r.Annotations["__dashboardUid__"])
			}
			var set []string
			for _, m := range chosen.FindAllStringSubmatch(url, -1) {
				set = append(set, m[1])
			}
			if diff := cmp.Diff(variables, set); diff != "" || !strings.HasPrefix(url, "https://grafana.example/d/"+board.UID+"?viewPanel="+id+"{{") {
				t.Errorf("%s of %s: %s\nvariables: want -, got +\n%s", r.Name, source, url, diff)
			}
		}
	}
}

func TestThePageOfSourcesIsWhatTheCommandPrints(t *testing.T) {
	const (
		page  = "../../docs/sources.md"
		begin = "<!-- From the rules; go test ./cmd/gen-dashboards -update writes it again. -->\n"
		end   = "<!-- End. -->\n"
	)
	var printed bytes.Buffer
	if err := printSources(&printed, defaultConfig()); err != nil {
		t.Fatal(err)
	}
	want := "\n" + printed.String()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, opened := strings.Cut(string(text), begin)
	got, after, closed := strings.Cut(rest, end)
	if !opened || !closed {
		t.Fatalf("%s lacks the marks; put them around the generated part and run go test ./cmd/gen-dashboards -run Source -update:\n%s%s", page, begin, end)
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s is not current; run go test ./cmd/gen-dashboards -run Source -update (want -, got +)\n%s", page, diff)
	}
}
