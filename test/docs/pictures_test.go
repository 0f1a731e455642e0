package docs

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// picture finds what a page shows: as Markdown, or as HTML that chooses by the
// reader's theme.
var picture = regexp.MustCompile(`!\[[^\]]*\]\(([^)\s]+)\)|\bsrc(?:set)?="([^"\s]+)"`)

// largestPicture is what a page may make its reader load, in bytes.
const largestPicture = 250_000

func TestThePagesShowThePicturesThatThereAre(t *testing.T) {
	shown := map[string]bool{}
	for file, text := range pages(t) {
		for _, name := range pictures(text) {
			path := filepath.Join(filepath.Dir(file), name)
			shown[path] = true
			info, err := os.Stat(path)
			if err != nil {
				t.Errorf("%s shows %s, which is not there", file, name)
			} else if info.Size() > largestPicture {
				t.Errorf("%s shows %s of %d bytes; at most %d are allowed: draw it again with pngquant on PATH", file, name, info.Size(), largestPicture)
			}
		}
	}
	there, err := filepath.Glob("../../docs/images/*")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(there, slices.Sorted(maps.Keys(shown))); diff != "" {
		t.Errorf("pictures of docs/images (-) and those that a page shows (+):\n%s", diff)
	}
}

// pictures are those of a page that the repository itself holds.
func pictures(text string) (names []string) {
	for _, found := range picture.FindAllStringSubmatch(code.ReplaceAllString(text, "code"), -1) {
		if name := found[1] + found[2]; !strings.Contains(name, "://") {
			names = append(names, name)
		}
	}
	return names
}

func TestEveryFormOfAPictureIsFound(t *testing.T) {
	page := "![a lock](docs/images/a.png)\n" +
		`<picture><source media="(prefers-color-scheme: dark)" srcset="b-dark.png"><img alt="b" src="b-light.png"></picture>` + "\n" +
		"`![no picture](c.png)` ![elsewhere](https://example.org/d.png) [a link](e.png)\n"
	if diff := cmp.Diff([]string{"docs/images/a.png", "b-dark.png", "b-light.png"}, pictures(page)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
