package release

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var snippet = regexp.MustCompile("(?s)```go\n(.*?)```")

// readme is a program with the snippets of an adapter's README in it. The rest
// is in testdata/readmes; "..." stands for what the reader knows.
func readme(adapter string) (string, error) {
	page, err := os.ReadFile(filepath.Join(root, "instrument", adapter, "README.md"))
	if err != nil {
		return "", err
	}
	rest, err := os.ReadFile(filepath.Join("testdata", "readmes", adapter+".go"))
	if err != nil {
		return "", fmt.Errorf("the README of %s needs a program around its snippets: %w", adapter, err)
	}
	const here = "SNIPPET"
	text := string(rest)
	snippets := snippet.FindAllStringSubmatch(string(page), -1)
	if len(snippets) == 0 || strings.Count(text, here) != len(snippets) {
		return "", fmt.Errorf("testdata/readmes/%s.go says %s %d times, its README has %d snippets", adapter, here, strings.Count(text, here), len(snippets))
	}
	for _, s := range snippets {
		text = strings.Replace(text, here, strings.ReplaceAll(s[1], "\n...\n", "\n"), 1)
	}
	return text, nil
}

func TestTheSnippetsOfEachAdaptersReadmeCompile(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "instrument", "*", "README.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		adapter := filepath.Base(filepath.Dir(page))
		t.Run(adapter, func(t *testing.T) {
			t.Parallel()
			text, err := readme(adapter)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			vet := exec.Command("go", "vet", file)
			vet.Dir = ".." // the module that requires all of them
			if out, err := vet.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
