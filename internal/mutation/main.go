// Command mutation seeds one fault after another into the election core and
// runs the core's tests on it: each fault must make a test fail. It changes
// no file; the faulty source goes to the compiler as an overlay.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// fault replaces one text in a file of package instrument.
type fault struct {
	what, file, good, bad string
}

func main() {
	survived := 0
	sources := make([]source, len(faults))
	for i, f := range faults { // all of them before the first test runs
		var err error
		if sources[i], err = f.source(); err != nil {
			fmt.Fprintf(os.Stderr, "mutation %d (%s): %v\n", i+1, f.what, err)
			os.Exit(2)
		}
	}
	for i, f := range faults {
		caught, err := f.try(sources[i])
		if err != nil {
			fmt.Fprintf(os.Stderr, "mutation %d (%s): %v\n", i+1, f.what, err)
			os.Exit(2)
		}
		verdict := "caught by " + caught
		if caught == "" {
			verdict = "SURVIVED"
			survived++
		}
		fmt.Printf("%2d  %-70s %s\n", i+1, f.what, verdict)
	}
	fmt.Printf("%d faults, %d survived\n", len(faults), survived)
	if survived > 0 {
		os.Exit(1)
	}
}

// source is a file and what it says.
type source struct {
	path string
	text []byte
}

// source reads the file of the fault, which must hold its text once.
func (f fault) source() (s source, err error) {
	if s.path, err = filepath.Abs(filepath.Join("instrument", f.file)); err != nil {
		return s, err
	}
	if s.text, err = os.ReadFile(s.path); err != nil {
		return s, err
	}
	if n := bytes.Count(s.text, []byte(f.good)); n != 1 {
		return s, fmt.Errorf("%s holds the text to replace %d times, want once: %q", f.file, n, f.good)
	}
	return s, nil
}

// try returns the first test that fails on the fault; empty when none does.
func (f fault) try(s source) (string, error) {
	dir, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	mutant := filepath.Join(dir, f.file)
	if err := os.WriteFile(mutant, bytes.Replace(s.text, []byte(f.good), []byte(f.bad), 1), 0o644); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {s.path: mutant}})
	if err != nil {
		return "", err
	}
	overlayFile := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlayFile, overlay, 0o644); err != nil {
		return "", err
	}
	return failing(exec.Command("go", "test", "-overlay", overlayFile, "-vet=off", "-timeout=60s", "-short", "./instrument"))
}

func failing(cmd *exec.Cmd) (string, error) {
	out, err := cmd.CombinedOutput()
	if err == nil {
		return "", nil
	}
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(line, "--- FAIL: "); ok {
			return strings.Fields(name)[0], nil
		}
	}
	switch text := string(out); {
	case strings.Contains(text, "[build failed]"):
		return "", fmt.Errorf("the fault does not compile:\n%s", out)
	case strings.Contains(text, "panic: test timed out"):
		return "a test that never ends", nil
	case strings.Contains(text, "panic:"), strings.Contains(text, "fatal error:"):
		return "a test that panics", nil
	default:
		return "", fmt.Errorf("no test named in:\n%s", out)
	}
}
