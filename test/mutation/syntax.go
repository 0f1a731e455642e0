package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// syntax is a package that was parsed and type-checked.
type syntax struct {
	*pkg
	fset     *token.FileSet
	importer types.Importer
	files    []*file
	info     *types.Info
}

// file is a source file of a package.
type file struct {
	path string
	text []byte
	tree *ast.File
}

// parse reads a package. Generated files are left out of what is mutated, but
// not of what is type-checked.
func parse(p *pkg, fset *token.FileSet, imp types.Importer) (*syntax, error) {
	s := &syntax{pkg: p, fset: fset, importer: imp, info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{},
		Defs:  map[*ast.Ident]types.Object{},
		Uses:  map[*ast.Ident]types.Object{},
	}}
	for _, name := range p.files {
		f := &file{path: filepath.Join(p.dir, name)}
		var err error
		if f.text, err = os.ReadFile(f.path); err != nil {
			return nil, err
		}
		if f.tree, err = parser.ParseFile(fset, f.path, f.text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			return nil, err
		}
		s.files = append(s.files, f)
	}
	if err := s.check(nil, nil, s.info); err != nil {
		return nil, fmt.Errorf("%s does not compile: %w", p.rel, err)
	}
	return s, nil
}

// check type-checks the package with one file replaced.
func (s *syntax) check(replaced *file, by *ast.File, info *types.Info) error {
	trees := make([]*ast.File, len(s.files))
	for i, f := range s.files {
		trees[i] = f.tree
		if f == replaced {
			trees[i] = by
		}
	}
	config := types.Config{Importer: s.importer, Sizes: types.SizesFor("gc", runtime.GOARCH)}
	_, err := config.Check(s.path, s.fset, trees, info)
	return err
}

// compiles reports why a mutant does not compile; nil when it does.
func (s *syntax) compiles(m *mutant) error {
	tree, err := parser.ParseFile(s.fset, m.file.path, m.source(), parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	err = s.check(m.file, tree, nil)
	if reason, ok := errors.AsType[types.Error](err); ok {
		return errors.New(reason.Msg) // its line is that of the changed source, which is not kept
	}
	return err
}

// declaration is a function or a group of variables or constants, under the
// name that anchors use.
type declaration struct {
	file *file
	name string // Type.method, function, or the first variable
	node ast.Node
}

// declarations are in the order of the source. Generated files have none.
func (s *syntax) declarations() (all []declaration) {
	for _, f := range s.files {
		if ast.IsGenerated(f.tree) {
			continue
		}
		for _, d := range f.tree.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Body != nil {
					all = append(all, declaration{f, functionName(d), d})
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok {
						all = append(all, declaration{f, v.Names[0].Name, v})
					}
				}
			}
		}
	}
	return all
}

func functionName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	receiver := d.Recv.List[0].Type
	for {
		switch t := receiver.(type) {
		case *ast.StarExpr:
			receiver = t.X
		case *ast.ParenExpr:
			receiver = t.X
		case *ast.IndexExpr:
			receiver = t.X
		case *ast.IndexListExpr:
			receiver = t.X
		case *ast.Ident:
			return t.Name + "." + d.Name.Name
		default:
			return d.Name.Name
		}
	}
}

// offset is the place of a position in its file.
func (s *syntax) offset(p token.Pos) int { return s.fset.Position(p).Offset }

// printNode returns a node as Go source that does not depend on how the file was
// laid out: the empty file set hides the original line breaks.
func printNode(n ast.Node) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, token.NewFileSet(), n); err != nil {
		return fmt.Sprintf("unprintable %T: %v", n, err)
	}
	return b.String()
}

// oneLine folds white space.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
