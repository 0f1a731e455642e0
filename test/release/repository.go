// Package release holds the tests of what is published: which modules there
// are, what they require, that a program elsewhere can fetch and build each,
// and that every line of the README's table compiles.
package release

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/leaderscope/leaderscope/instrument"
)

const (
	root = "../.."
	base = "github.com/leaderscope/leaderscope"
	tag  = "v" + instrument.Version
)

// module is a module of this repository.
type module struct {
	dir  string // below the root, with slashes; "." for the root itself
	file *modfile.File
}

func (m module) path() string { return m.file.Module.Mod.Path }

// published reports whether people outside require the module or run it.
func (m module) published() bool { return m.dir != "test" && m.dir != "examples" }

// command reports a module whose programs are run by go run PATH@VERSION,
// which refuses a replace.
func (m module) command() bool { return strings.HasPrefix(m.dir, "cmd/") }

// modules reads every go.mod of the repository, the root's first.
func modules() (all []module, err error) {
	err = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && file != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules" || entry.Name() == "testdata") {
			return fs.SkipDir
		}
		if entry.Name() != "go.mod" {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		parsed, err := modfile.Parse(file, text, nil)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		all = append(all, module{filepath.ToSlash(dir), parsed})
		return nil
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("no modules below %s", root)
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.path(), b.path()) })
	return all, err
}
