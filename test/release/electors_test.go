package release

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mostLines is the length of a program that a reader copies into a service.
const mostLines = 80

// lacks lists what such a program does not have: all of the parts that a
// service needs, in one file. Each part is one of several texts.
func lacks(text []byte, adapter string) (missing []string) {
	for part, texts := range map[string][]string{
		"at most 80 lines":  nil,
		"a main function":   {"package main\n"},
		"the adapter":       {`"` + base + "/instrument/" + adapter + `"`},
		"a middleware":      {"instrument.New("},
		"an election":       {"m.Election("},
		"a registry":        {"prom.Register("},
		"an HTTP endpoint":  {`http.Handle("/metrics"`, "BindAddress:"},
		"a graceful stop":   {"signal.NotifyContext(", "SetupSignalHandler()"},
		"a package comment": {"// Command " + adapter + " "},
	} {
		there := slices.ContainsFunc(texts, func(s string) bool { return bytes.Contains(text, []byte(s)) })
		if texts == nil {
			there = bytes.Count(text, []byte("\n")) <= mostLines
		}
		if !there {
			missing = append(missing, part)
		}
	}
	slices.Sort(missing)
	return missing
}

// go vet of the module examples compiles the programs.
func TestEachLibraryOfTheReadmeHasAProgramToCopy(t *testing.T) {
	all, err := rows()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, r := range all {
		want = append(want, r.adapter())
		text, err := os.ReadFile(filepath.Join(root, "examples", "electors", r.adapter(), "main.go"))
		if err != nil {
			t.Errorf("%s: %v", r.name, err)
			continue
		}
		if missing := lacks(text, r.adapter()); missing != nil {
			t.Errorf("examples/electors/%s/main.go lacks %s", r.adapter(), strings.Join(missing, ", "))
		}
	}
	slices.Sort(want)
	folders, err := filepath.Glob(filepath.Join(root, "examples", "electors", "*", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range folders {
		got = append(got, filepath.Base(filepath.Dir(f)))
	}
	if !slices.Equal(got, want) {
		t.Errorf("examples/electors has programs for\n%v, the README has lines for\n%v", got, want)
	}
}

func TestAProgramToCopyHasAllParts(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "examples", "electors", "etcdlock", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(string) string
		want   []string
	}{
		"as it is":        {func(s string) string { return s }, nil},
		"too long":        {func(s string) string { return s + strings.Repeat("\n", mostLines) }, []string{"at most 80 lines"}},
		"without metrics": {func(s string) string { return strings.ReplaceAll(s, `"/metrics"`, `"/"`) }, []string{"an HTTP endpoint"}},
		"without an end":  {func(s string) string { return strings.ReplaceAll(s, "NotifyContext", "Notify") }, []string{"a graceful stop"}},
		"another library": {func(s string) string { return strings.ReplaceAll(s, "instrument/etcdlock", "instrument/natskv") }, []string{"the adapter"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lacks([]byte(c.change(string(text))), "etcdlock"); !slices.Equal(got, c.want) {
				t.Errorf("lacks %v, want %v", got, c.want)
			}
		})
	}
}
