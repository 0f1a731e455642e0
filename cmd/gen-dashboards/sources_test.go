package main

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the generated part of docs/sources.md again")

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
		t.Fatalf("%s lacks the marks", page)
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}
