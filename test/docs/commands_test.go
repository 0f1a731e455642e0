package docs

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// spans are what a page shows as code: a block, or a word in a line.
	spans      = regexp.MustCompile("(?s)```[a-z]*\n(.*?)```|`([^`\n]*)`")
	makes      = regexp.MustCompile(`(?m)^\s*(?:\$ )?make ([a-z][a-z-]*)`)
	runs       = regexp.MustCompile(`go run (?:-C (\S+) )?(\S+)`)
	generators = regexp.MustCompile(`(?m)(?:^|cmd/)gen-dashboards(?:@latest)?((?: [^|<>\n]*)?)`)
	flags      = regexp.MustCompile(`(?:^| )--([a-z-]+)`)
	targets    = regexp.MustCompile(`(?m)^([a-z-]+):`)
	uses       = regexp.MustCompile(`Use:\s+"([a-z]+)`)
)

// commands are what a reader can type, and what of it exists.
type commands struct {
	targets, subcommands []string
	generator            string // its source
}

func known(t *testing.T) (c commands) {
	t.Helper()
	for _, found := range targets.FindAllStringSubmatch(read(t, "../../Makefile"), -1) {
		c.targets = append(c.targets, found[1])
	}
	files, err := filepath.Glob("../../cmd/gen-dashboards/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no generator: %v", err)
	}
	for _, file := range files {
		c.generator += read(t, file)
	}
	for _, found := range uses.FindAllStringSubmatch(c.generator, -1) {
		c.subcommands = append(c.subcommands, found[1])
	}
	return c
}

// wrong says what of the code of a page in that folder cannot be run.
func (c commands) wrong(folder, code string) (all []string) {
	for _, found := range makes.FindAllStringSubmatch(code, -1) {
		if !slices.Contains(c.targets, found[1]) {
			all = append(all, "the Makefile has no target "+found[1])
		}
	}
	for _, found := range runs.FindAllStringSubmatch(code, -1) {
		if !runnable(folder, found[1], found[2]) {
			all = append(all, found[2]+" cannot be run")
		}
	}
	for _, found := range generators.FindAllStringSubmatch(code, -1) {
		words := strings.Fields(found[1])
		if len(words) > 0 && !strings.HasPrefix(words[0], "-") && !slices.Contains(c.subcommands, words[0]) {
			all = append(all, "gen-dashboards has no command "+words[0])
		}
		for _, flag := range flags.FindAllStringSubmatch(found[1], -1) {
			if !slices.Contains([]string{"check", "help", "version"}, flag[1]) && !strings.Contains(c.generator, `"`+flag[1]+`"`) {
				all = append(all, "gen-dashboards has no flag --"+flag[1])
			}
		}
	}
	return all
}

// runnable reports whether there is a program at an argument of go run: of the
// repository by its address or, from its root or from the page, by its path.
func runnable(folder, dir, program string) bool {
	program = strings.TrimRight(program, ".,;)")
	path, ours := strings.CutPrefix(program, "github.com/leaderscope/leaderscope/")
	path, _, _ = strings.Cut(path, "@")
	switch {
	case !ours && (!strings.HasPrefix(path, ".") || strings.HasPrefix(path, "...")): // another's, or any
		return true
	case ours:
		folder = root
	}
	for _, from := range []string{folder, root, filepath.Join(root, "test")} {
		if main, _ := filepath.Glob(filepath.Join(from, dir, path, "*.go")); len(main) > 0 {
			return true
		}
	}
	return false
}

func TestCommandsThatThePagesNameExist(t *testing.T) {
	c := known(t)
	for file, text := range pages(t) {
		if filepath.Base(file) == "CHANGELOG.md" {
			continue // it names what is gone, too
		}
		for _, found := range spans.FindAllStringSubmatch(text, -1) {
			for _, wrong := range c.wrong(filepath.Dir(file), found[1]+found[2]) {
				t.Errorf("%s: %s", file, wrong)
			}
		}
	}
}

func TestACommandThatIsNotThereIsFound(t *testing.T) {
	c := known(t)
	for code, want := range map[string]string{
		"make demo":              "",
		"make demo DEMO=--keep":  "",
		"make demos":             "the Makefile has no target demos",
		"make test\nmake mutate": "the Makefile has no target mutate",
		"go run github.com/leaderscope/leaderscope/cmd/gen-dashboards@latest config > leaderscope.yaml": "",
		"go run github.com/leaderscope/leaderscope/cmd/gen-rules@latest":                                "github.com/leaderscope/leaderscope/cmd/gen-rules@latest cannot be run",
		"go run ./examples/quickstart -keep":                                                            "",
		"go run ./examples/slowstart":                                                                   "./examples/slowstart cannot be run",
		"go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...":                                        "",
		"gen-dashboards label --key-file key --key-id k1 < names":                                       "",
		"gen-dashboards labels < names":                                                                 "gen-dashboards has no command labels",
		"gen-dashboards --out monitoring --formats mimir":                                               "gen-dashboards has no flag --formats",
	} {
		if got := strings.Join(c.wrong(root, code), ", "); got != want {
			t.Errorf("%q: %q, want %q", code, got, want)
		}
	}
}
