//go:build unix

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leaderscope/leaderscope/examples/internal/stage/stagetest"
)

// TestMain lets copies of the test binary be the program.
func TestMain(m *testing.M) { stagetest.Main(m, main) }

func TestFlagsNameTheServerOrSayHowToHaveOne(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args   string
		binary string // by the environment
		want   options
		fails  string // empty when it does not
	}{
		"a cluster":                     {"--kubeconfig file --namespace n", "", options{kubeconfig: "file", namespace: "n"}, ""},
		"a cluster wins":                {"--kubeconfig file", self, options{kubeconfig: "file", namespace: "default"}, ""},
		"a binary":                      {"--kube-apiserver " + self, "", options{binary: self, namespace: "default"}, ""},
		"a binary, by the environment":  {"", self, options{binary: self, namespace: "default"}, ""},
		"nothing":                       {"", "", options{}, "scripts/build-kube-apiserver"},
		"a binary that is not there":    {"--kube-apiserver /nowhere/kube-apiserver", "", options{}, "/nowhere/kube-apiserver"},
		"an argument that is no flag":   {"kubeconfig", "", options{}, `"kubeconfig"`},
		"a flag that is not understood": {"--kubeconfg file", "", options{}, "kubeconfg"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := parseFlags(strings.Fields(c.args), c.binary, io.Discard)
			switch {
			case c.fails == "" && (err != nil || got != c.want):
				t.Errorf("%+v, %v", got, err)
			case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails) || strings.Contains(err.Error(), "\n")):
				t.Errorf("error %v, want one line with %s", err, c.fails)
			}
		})
	}
}

func TestAKubeconfigThatIsNotThereIsNamedAndNothingIsLeft(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	file := filepath.Join(t.TempDir(), "kubeconfig")
	err := show(t.Context(), options{kubeconfig: file, namespace: "default"}, false)
	if err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("error %v does not name %s", err, file)
	}
	stagetest.NothingLeft(t, os.TempDir())
}

func TestAServerThatEndsAtOnceIsSaidToHave(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	binary := filepath.Join(t.TempDir(), "kube-apiserver")
	if err := os.WriteFile(binary, []byte("#!/bin/sh\necho no such flag >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := show(t.Context(), options{binary: binary, namespace: "default"}, false)
	if err == nil || !strings.HasSuffix(err.Error(), "no such flag") || !strings.Contains(err.Error(), binary) {
		t.Errorf("error %v does not say what %s said", err, binary)
	}
	stagetest.NothingLeft(t, os.TempDir())
}
