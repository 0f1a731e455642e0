package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"gen-dashboards": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"flip": flip,
			"same": sameTree,
			"code": exitCode,
		},
	})
}

// flip changes one byte of a file.
func flip(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(args[0])
	data, err := os.ReadFile(name)
	ts.Check(err)
	data[len(data)/2] ^= 1
	ts.Check(os.WriteFile(name, data, 0o644))
}

// sameTree compares two directories byte by byte.
func sameTree(ts *testscript.TestScript, _ bool, args []string) {
	a, b := contents(ts, args[0]), contents(ts, args[1])
	if len(a) == 0 || len(a) != len(b) {
		ts.Fatalf("%s has %d files, %s has %d", args[0], len(a), args[1], len(b))
	}
	for name := range a {
		if a[name] != b[name] {
			ts.Fatalf("%s differs", name)
		}
	}
}

func contents(ts *testscript.TestScript, dir string) map[string]string {
	dir = ts.MkAbs(dir)
	files := map[string]string{}
	ts.Check(filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		files[rel] = string(data)
		return err
	}))
	return files
}

// exitCode runs the command and expects an exit code, which exec alone does
// not tell apart: code 2 gen-dashboards --format nope.
func exitCode(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = err.Error()
	}
	if got != "exit status "+args[0] {
		ts.Fatalf("got %s, want exit status %s", got, args[0])
	}
}
