package docs

import (
	"errors"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// withoutExample are the public packages that cannot have an Example, with the
// reason.
var withoutExample = map[string]string{
	"instrument/electtest/scenario": "its one function plays in a bubble of testing/synctest, which an Example does not have",
}

// What `go doc` shows first is what a reader copies.
func TestEveryPublicPackageStartsWithAProgramAndHasAnExample(t *testing.T) {
	folders := packages(t)
	if len(folders) < 30 {
		t.Errorf("only %d packages: %v", len(folders), folders)
	}
	for _, folder := range folders {
		p := parsed(t, filepath.Join(root, folder))
		if wrong := opening(p.doc); wrong != "" {
			t.Errorf("go doc of %s: %s", folder, wrong)
		}
		switch reason := withoutExample[folder]; {
		case !p.example && reason == "":
			t.Errorf("%s has no Example: write one in %[1]s/example_test.go", folder)
		case p.example && reason != "":
			t.Errorf("%s has an Example: take it off the list of those without", folder)
		}
	}
	for folder := range maps.Keys(withoutExample) {
		if !slices.Contains(folders, folder) {
			t.Errorf("%s is no public package: take it off the list of those without an Example", folder)
		}
	}
}

// packages are the folders of packages that another module can import, tests and
// examples left out.
func packages(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		folder, _ := filepath.Rel(root, file)
		name := entry.Name()
		if entry.IsDir() && (name == "internal" || name == "testdata" || folder == "test" || folder == "examples" || folder == "bin" ||
			folder != "." && strings.HasPrefix(name, ".")) {
			return fs.SkipDir
		}
		if !entry.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly)
			if err != nil {
				return err
			}
			if f.Name.Name != "main" {
				found[filepath.Dir(folder)] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(found))
}

// publicPackage is a package as its reader sees it.
type publicPackage struct {
	doc     *doc.Package
	example bool
}

func parsed(t *testing.T, folder string) publicPackage {
	t.Helper()
	files := token.NewFileSet()
	var code, tests []*ast.File
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		f, err := parser.ParseFile(files, name, nil, parser.ParseComments)
		switch {
		case err != nil:
			t.Fatal(err)
		case strings.HasSuffix(name, "_test.go"):
			tests = append(tests, f)
		default:
			code = append(code, f)
		}
	}
	p, err := doc.NewFromFiles(files, code, folder)
	if err != nil {
		t.Fatal(err)
	}
	return publicPackage{p, len(doc.Examples(tests...)) > 0}
}

// opening says what is wrong with how the comment of a package begins: a paragraph,
// and then code that calls what the package has.
func opening(p *doc.Package) string {
	blocks := p.Parser().Parse(p.Doc).Content
	if len(blocks) < 2 {
		return "there is no program below the first paragraph"
	}
	code, ok := blocks[1].(*comment.Code)
	if !ok {
		return "there is no program below the first paragraph"
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() {\n"+code.Text+"\n}", 0)
	if err != nil {
		var first scanner.ErrorList
		errors.As(err, &first)
		return "its program is no Go: " + first[0].Msg
	}
	var calls, unknown []string
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == p.Name {
				calls = append(calls, s.Sel.Name)
				if !exports(p, s.Sel.Name) {
					unknown = append(unknown, s.Sel.Name)
				}
			}
		}
		return true
	})
	switch {
	case len(unknown) > 0:
		return "its program uses what is not there: " + strings.Join(unknown, ", ")
	case len(calls) == 0:
		return "its program does not use package " + p.Name
	}
	return ""
}

// exports reports whether a package has a top-level name.
func exports(p *doc.Package, name string) bool {
	funcs := slices.Clone(p.Funcs)
	values := slices.Concat(p.Consts, p.Vars)
	for _, typ := range p.Types {
		if typ.Name == name {
			return true
		}
		funcs = append(funcs, typ.Funcs...)
		values = slices.Concat(values, typ.Consts, typ.Vars)
	}
	return slices.ContainsFunc(funcs, func(f *doc.Func) bool { return f.Name == name }) ||
		slices.ContainsFunc(values, func(v *doc.Value) bool { return slices.Contains(v.Names, name) })
}

func TestAPackageThatDoesNotStartWithAProgramIsFound(t *testing.T) {
	const none = "there is no program below the first paragraph"
	for text, want := range map[string]string{
		"// Package p elects.\n//\n//\tp.Elect()\n":                          "",
		"// Package p elects.\n//\n//\tfor range p.All() {\n//\t}\n":         "",
		"// Package p elects.\n//\n//\tx := p.Elector{}\n//\tx.Run(p.Max)\n": "",
		"// Package p elects.\n":                                             none,
		"":                                                                   none,
		"// Package p elects.\n//\n// It is slow.\n//\n//\tp.Elect()\n":            none,
		"// Package p elects.\n//\n//\tp.Elect()\n//\t...\n":                       "its program is no Go: expected statement, found '...'",
		"// Package p elects.\n//\n//\tq.Elect()\n":                                "its program does not use package p",
		"// Package p elects.\n//\n//\tp.Choose(p.Elect, p.elect)\n":               "its program uses what is not there: Choose, elect",
		"// Package p elects.\n//\n//\trules:\n//\t  - exact: [a, b]\n":            "its program is no Go: illegal label declaration",
		"// Package p elects.\n//\n//   - first\n//   - second\n//\n//\tp.Elect()": none,
	} {
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, "p.go", strings.TrimSuffix(text, "\n")+"\npackage p\n"+
			"func Elect() {}\nfunc elect() {}\nfunc All() []int { return nil }\ntype Elector struct{}\nconst Max = 1\n", parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		p, err := doc.NewFromFiles(files, []*ast.File{f}, "p")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, opening(p)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}
