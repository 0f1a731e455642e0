package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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
		Setup: func(env *testscript.Env) error {
			// With the race detector each command would wait for a second before
			// it ends, for goroutines that it does not have.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"flip": flip,
			"same": sameTree,
			"code": exitCode,
			"mode": hasMode,
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

// hasMode expects a mode of a file: mode 600 name.
func hasMode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
	}
}

func TestAnInterruptedRunWritesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	err := generation{out: dir, formats: []string{"mimir"}}.run(ctx, &out)
	var attempt failure
	if !errors.As(err, &attempt) || err.Error() != "interrupted; nothing was changed" || out.Len() > 0 {
		t.Errorf("got %v, printed %q", err, &out)
	}
	if _, err := os.Lstat(dir); err == nil {
		t.Error("the directory was made")
	}
}

func TestTheSignalsThatEndARunAreHeeded(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		ctx, stop := untilSignal(t.Context())
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if err := self.Signal(signal); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
		stop()
	}
}
