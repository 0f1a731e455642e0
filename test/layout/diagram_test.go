package layout

import (
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// room is the part of the repository that a package is in, as the diagram of
// docs/architecture.md names it; empty for examples and tests.
func room(pkg string, adapters []string) string {
	folders := strings.Split(strings.TrimPrefix(pkg, module), "/")
	switch {
	case folders[0] == "instrument" && len(folders) > 1 && folders[1] == "catalog":
		return "instrument/catalog"
	case folders[0] == "instrument" && len(folders) > 1 && slices.Contains(adapters, folders[1]):
		return "instrument/ADAPTER"
	case folders[0] == "cmd":
		return path.Join(folders[:2]...)
	case folders[0] == "examples" || folders[0] == "test":
		return ""
	default:
		return folders[0]
	}
}

// imports are the arrows between rooms that the code has.
func imports(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	arrows, named := map[string]bool{}, adapters(t)
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		from := room(words[0], named)
		for _, imported := range words[1:] {
			if to := room(imported, named); strings.HasPrefix(imported, module) && from != "" && from != to {
				arrows[from+" --> "+to] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(arrows))
}

var (
	diagram = regexp.MustCompile("(?s)```mermaid\n(.*?)```")
	node    = regexp.MustCompile(`(?m)^\s*(\w+)\["([^"<]+)`)
	arrow   = regexp.MustCompile(`(?m)^\s*(\w+) --> (\w+)$`)
)

func TestTheDiagramOfTheArchitectureShowsTheImports(t *testing.T) {
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	found := diagram.FindSubmatch(page)
	if found == nil {
		t.Fatal("docs/architecture.md has no diagram")
	}
	names := map[string]string{}
	for _, n := range node.FindAllStringSubmatch(string(found[1]), -1) {
		names[n[1]] = n[2]
	}
	var drawn []string
	for _, a := range arrow.FindAllStringSubmatch(string(found[1]), -1) {
		drawn = append(drawn, names[a[1]]+" --> "+names[a[2]])
	}
	slices.Sort(drawn)
	if diff := cmp.Diff(drawn, imports(t)); diff != "" {
		t.Errorf("the diagram (-) and the code (+):\n%s", diff)
	}
}
