package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// pkg is a package of the repository.
type pkg struct {
	path   string // import path
	dir    string
	rel    string // folder below the root, with slashes
	module string // folder of its module
	files  []string
	tested bool
	needs  map[string]bool // import paths of ours that its tests link, its own included
}

// workspace holds the packages of the root module, of the modules nested in
// the rooms, and of the modules that a room is a part of.
type workspace struct {
	root     string
	packages []*pkg
}

// openWorkspace lists the packages below root. Modules outside the rooms are
// left out, except the root module, whose tests judge too.
func openWorkspace(ctx context.Context, root string, rooms []string) (*workspace, error) {
	w := &workspace{root: root}
	modules := []string{root}
	for _, room := range rooms {
		nested, err := nestedModules(filepath.Join(root, room))
		if err != nil {
			return nil, err
		}
		modules = append(modules, nested...)
		modules = append(modules, moduleAbove(root, room))
	}
	slices.Sort(modules)
	for _, dir := range slices.Compact(modules) {
		found, err := w.list(ctx, dir)
		if err != nil {
			return nil, err
		}
		w.packages = append(w.packages, found...)
	}
	return w, nil
}

// moduleAbove is the module that a room belongs to unless it has its own.
func moduleAbove(root, room string) string {
	for folder := path.Dir(room); folder != "."; folder = path.Dir(folder) {
		dir := filepath.Join(root, folder)
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	return root
}

func nestedModules(room string) (dirs []string, err error) {
	err = filepath.WalkDir(room, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "testdata":
			return fs.SkipDir
		case entry.Name() == "go.mod":
			dirs = append(dirs, filepath.Dir(file))
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return dirs, err
}

// list reads the packages of one module.
func (w *workspace) list(ctx context.Context, module string) ([]*pkg, error) {
	type listed struct {
		ImportPath, Dir                    string
		GoFiles, TestGoFiles, XTestGoFiles []string
		Deps, TestImports, XTestImports    []string
	}
	const fields = "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,Deps,TestImports,XTestImports"
	out, err := goCommand(ctx, module, "list", fields, "./...")
	if err != nil {
		return nil, err
	}
	all, err := decodeAll[listed](out)
	if err != nil {
		return nil, err
	}
	deps := make(map[string][]string, len(all))
	for _, l := range all {
		deps[l.ImportPath] = l.Deps
	}
	packages := make([]*pkg, len(all))
	for i, l := range all {
		rel, err := filepath.Rel(w.root, l.Dir)
		if err != nil {
			return nil, err
		}
		p := &pkg{
			path: l.ImportPath, dir: l.Dir, rel: filepath.ToSlash(rel), module: module,
			files: l.GoFiles, tested: len(l.TestGoFiles)+len(l.XTestGoFiles) > 0,
			needs: map[string]bool{},
		}
		for _, imported := range slices.Concat([]string{l.ImportPath}, l.TestImports, l.XTestImports) {
			p.needs[imported] = true
			for _, dep := range deps[imported] {
				p.needs[dep] = true
			}
		}
		packages[i] = p
	}
	return packages, nil
}

// targets are the packages of the rooms whose folder matches the pattern.
func (w *workspace) targets(rooms []string, pattern string) (targets []*pkg) {
	for _, p := range w.packages {
		below := func(room string) bool { return p.rel == room || strings.HasPrefix(p.rel, room+"/") }
		if slices.ContainsFunc(rooms, below) && matchesFolder(pattern, p.rel) {
			targets = append(targets, p)
		}
	}
	return targets
}

// matchesFolder compares a folder with a list of patterns such as
// "redact/...,exporter/prom"; an empty list matches all.
func matchesFolder(patterns, rel string) bool {
	if patterns == "" {
		return true
	}
	for pattern := range strings.SplitSeq(patterns, ",") {
		pattern = path.Clean(pattern)
		tree, isTree := strings.CutSuffix(pattern, "/...")
		if pattern == rel || pattern == "..." || isTree && (rel == tree || strings.HasPrefix(rel, tree+"/")) {
			return true
		}
	}
	return false
}

// judges are the packages of the target's module whose tests link it: its own
// first.
func (w *workspace) judges(target *pkg) (judges []*pkg) {
	for _, p := range w.packages {
		if p.module != target.module || !p.tested || !p.needs[target.path] {
			continue
		}
		if p == target {
			judges = slices.Insert(judges, 0, p)
		} else {
			judges = append(judges, p)
		}
	}
	return judges
}

// typesOf returns an importer for what the packages of one module import. It
// reads the compiler's export data, which the clean run needs anyway.
func typesOf(ctx context.Context, fset *token.FileSet, module string, targets []*pkg) (types.Importer, error) {
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Export"}
	for _, p := range targets {
		args = append(args, p.path)
	}
	out, err := goCommand(ctx, module, args...)
	if err != nil {
		return nil, err
	}
	type exported struct{ ImportPath, Export string }
	all, err := decodeAll[exported](out)
	if err != nil {
		return nil, err
	}
	files := make(map[string]string, len(all))
	for _, e := range all {
		files[e.ImportPath] = e.Export
	}
	return importer.ForCompiler(fset, "gc", func(imported string) (io.ReadCloser, error) {
		file := files[imported]
		if file == "" {
			return nil, fmt.Errorf("no export data of %s", imported)
		}
		return os.Open(file)
	}), nil
}

// goCommand runs the go command in a folder and returns what it prints.
func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s in %s: %w\n%s", args[0], dir, err, stderr.Bytes())
	}
	return out, nil
}

func decodeAll[T any](data []byte) (all []T, err error) {
	for d := json.NewDecoder(bytes.NewReader(data)); ; {
		var one T
		if err := d.Decode(&one); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
}
