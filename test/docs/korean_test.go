package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	generatedPart = regexp.MustCompile(`(?s)<!-- (?:libraries:|electors:|accuracy:|From the alerts').*?<!-- (?:/libraries|/electors|/accuracy|End\.) -->\n`)
	block         = regexp.MustCompile("(?s)(?:<!-- from \\S+ -->\n)?```[a-z]*\n.*?```\n")
	heading       = regexp.MustCompile(`(?m)^#+ `)
	inlineCode    = regexp.MustCompile("`[^`\n]+`")
	number        = regexp.MustCompile(`\d+(?:\.\d+)?`)
)

// skeleton is what two languages of a page share.
type skeleton struct {
	Headings, Code, Inline, Links, Tables, Figures []string
}

// skeletonOf reads a page without its generated parts, which are in English
// only, and without the links between the two languages.
func skeletonOf(page string) (s skeleton) {
	page = generatedPart.ReplaceAllString(page, "")
	s.Code = block.FindAllString(page, -1)
	page = block.ReplaceAllString(page, "")
	s.Headings = heading.FindAllString(page, -1)
	s.Inline = inlineCode.FindAllString(page, -1)
	for _, found := range link.FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(found[1], "README.") {
			s.Links = append(s.Links, found[1])
		}
	}
	// Languages put words, and with them code and links, in other orders.
	slices.Sort(s.Inline)
	slices.Sort(s.Links)
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "|") {
			s.Tables = append(s.Tables, strings.Repeat("|", strings.Count(inlineCode.ReplaceAllString(line, ""), "|")))
		}
		if strings.Contains(line, "alert-quality.md") || strings.Contains(line, "metrics.md") || strings.Contains(line, "NoLeader") || strings.Contains(line, "Overlap") {
			figures := number.FindAllString(line, -1)
			slices.Sort(figures)
			s.Figures = append(s.Figures, strings.Join(figures, " "))
		}
	}
	return s
}

func TestTheKoreanREADMEIsInStep(t *testing.T) {
	want, got := skeletonOf(read(t, "../../README.md")), skeletonOf(read(t, "../../README.ko.md"))
	if len(want.Code) < 5 || len(want.Tables) < 20 || len(want.Links) < 30 {
		t.Fatalf("little was read of README.md: %d blocks, %d rows, %d links", len(want.Code), len(want.Tables), len(want.Links))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("README.ko.md is not in step with README.md (-en +ko):\n%s", diff)
	}
}
