package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// snippets are the Go code of a page that is not quoted from a file. In it
// "// ..." and "..." stand for what the reader knows.
func snippets(text string) (all []string) {
	goBlock := regexp.MustCompile("(?s)```go\n(.*?)```")
	for _, found := range goBlock.FindAllStringSubmatch(quote.ReplaceAllString(text, ""), -1) {
		all = append(all, found[1])
	}
	return all
}

// around is the program that is in testdata around the snippets of a page.
func around(page string, found []string) (string, error) {
	file := filepath.Join("testdata", "snippets", strings.TrimSuffix(page, ".md")+".tmpl")
	rest, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%s has Go code that is not compiled: quote it with <!-- from FILE -->, or write a program around it: %w", page, err)
	}
	const here = "SNIPPET\n"
	program := string(rest)
	if n := strings.Count(program, here); n != len(found) {
		return "", fmt.Errorf("%s has %d places for code, the page has %d snippets", file, n, len(found))
	}
	for _, s := range found {
		program = strings.Replace(program, here, strings.ReplaceAll(s, "\t...\n", ""), 1)
	}
	return program, nil
}

func TestTheCodeOfThePagesCompiles(t *testing.T) {
	var compiled []string
	for file, text := range pages(t) {
		found := snippets(text)
		if filepath.Dir(file) != filepath.Join(root, "docs") || len(found) == 0 {
			continue // test/release compiles the READMEs of adapters
		}
		page := filepath.Base(file)
		compiled = append(compiled, strings.TrimSuffix(page, ".md")+".tmpl")
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			program, err := around(page, found)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(name, []byte(program), 0o600); err != nil {
				t.Fatal(err)
			}
			vet := exec.Command("go", "vet", "-tags", "integration", name)
			vet.Dir = ".." // the module that requires all of them
			if out, err := vet.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	there, err := filepath.Glob("testdata/snippets/*.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range there {
		if !slices.Contains(compiled, filepath.Base(program)) {
			t.Errorf("no page has the code for %s", program)
		}
	}
}
