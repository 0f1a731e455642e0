package release

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// row is a line of the README's table of libraries.
type row struct{ name, line, folder string }

func (r row) adapter() string { return filepath.Base(r.folder) }

const (
	rowsBegin = "<!-- libraries: each line is compiled by a test -->\n"
	rowsEnd   = "<!-- /libraries -->\n"
)

var folder = regexp.MustCompile(`^\[.*\]\(([^)]*)\)$`)

// rows reads the table of libraries in the README.
func rows() (all []row, err error) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		return nil, err
	}
	_, table, found := strings.Cut(string(text), rowsBegin)
	table, _, closed := strings.Cut(table, rowsEnd)
	if !found || !closed {
		return nil, fmt.Errorf("README.md has no table between %q and %q", rowsBegin, rowsEnd)
	}
	for i, line := range strings.Split(strings.TrimSpace(table), "\n") {
		if i < 2 { // the head
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 3 || !folder.MatchString(cells[2]) || !strings.HasPrefix(cells[1], "`") {
			return nil, fmt.Errorf("README.md: %q is not | library | `line` | [adapter](folder) |", line)
		}
		all = append(all, row{cells[0], strings.Trim(cells[1], "`"), folder.FindStringSubmatch(cells[2])[1]})
	}
	return all, nil
}

// program is a program with the row's line in it: what a user has who copies
// the line. The rest of it is in testdata/programs, under the adapter's name.
func program(r row) (string, error) {
	text, err := os.ReadFile(filepath.Join("testdata", "programs", r.adapter()+".go"))
	if err != nil {
		return "", fmt.Errorf("the line of %s in README.md needs a program around it: %w", r.name, err)
	}
	const here = "LINE"
	if strings.Count(string(text), here) != 1 {
		return "", fmt.Errorf("testdata/programs/%s.go has to say %s once, where the README's line goes", r.adapter(), here)
	}
	return strings.Replace(string(text), here, r.line, 1), nil
}
