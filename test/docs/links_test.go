package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

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

// namedAnchor finds the anchors that a page sets itself, as in the rows of a table.
var namedAnchor = regexp.MustCompile(`<a id="([^"]+)"></a>`)

// anchors are those that GitHub makes of headings, and those of the page itself.
func anchors(text string) (all []string) {
	for _, found := range namedAnchor.FindAllStringSubmatch(text, -1) {
		all = append(all, found[1])
	}
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
