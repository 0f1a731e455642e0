package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

const (
	maxMemory = 4 << 30 // bytes, of one test binary
	maxOutput = 1 << 20 // bytes kept of what one test binary prints
	maxClean  = 10 * time.Minute
)

// runner builds and runs test binaries.
type runner struct {
	dir       string        // for what it writes
	slack     time.Duration // added to every time-out
	buildJobs int           // compilers at a time, in one build
}

// outcome is how a test binary ended.
type outcome int

const (
	passed outcome = iota
	failed
	ranOut // of time or of memory
)

// result is an outcome and what shows it.
type result struct {
	outcome outcome
	test    string // that failed; empty when the output names none
	detail  string // why it ran out
	output  []byte
	took    time.Duration
}

// errBuild is the reason of a build that failed because of the source.
var errBuild = errors.New("does not compile")

// build compiles the tests of a package.
func (r *runner) build(ctx context.Context, p *pkg, binary string, flags ...string) error {
	args := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", fmt.Sprintf("-p=%d", r.buildJobs), "-o", binary}
	cmd := exec.CommandContext(ctx, "go", append(append(args, flags...), p.path)...)
	cmd.Dir = p.module
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit):
		return fmt.Errorf("%w: %s", errBuild, firstError(out))
	default:
		return err
	}
}

// firstError is the first line of the compiler that is not a heading.
func firstError(out []byte) string {
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "#") {
			return strings.TrimSpace(line)
		}
	}
	return oneLine(string(out))
}

// execution is one run of a test binary.
type execution struct {
	binary string
	limit  time.Duration
	args   []string
	env    []string // beside that of this process
}

// run runs the tests of a package where go test would.
func (r *runner) run(ctx context.Context, p *pkg, x execution) (result, error) {
	temp, err := os.MkdirTemp(r.dir, "tmp")
	if err != nil {
		return result{}, err
	}
	defer os.RemoveAll(temp)
	limited, cancel := context.WithTimeout(ctx, x.limit)
	defer cancel()
	cmd, end := testCommand(limited, x.binary, append([]string{"-test.timeout=0", "-test.failfast", "-test.short"}, x.args...)...)
	out := &limitedBuffer{}
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, out, out
	cmd.Env = append(append(os.Environ(), "PWD="+p.dir, "TMPDIR="+temp), x.env...)
	cmd.WaitDelay = time.Second
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return result{}, err
	}
	err = cmd.Wait()
	end()
	if ctx.Err() != nil {
		return result{}, ctx.Err()
	}
	res := result{output: out.Bytes(), took: time.Since(start)}
	var exit *exec.ExitError
	switch {
	case limited.Err() != nil:
		res.outcome, res.detail = ranOut, fmt.Sprintf("ran for more than %v", x.limit.Round(time.Second))
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		res.outcome = passed
	case !errors.As(err, &exit):
		return result{}, err
	case outOfMemory.Match(res.output):
		res.outcome, res.detail = ranOut, fmt.Sprintf("used more than %d GiB of memory", maxMemory>>30)
	default:
		res.outcome, res.test = failed, failedTest(res.output)
	}
	return res, nil
}

var (
	outOfMemory = regexp.MustCompile(`(?m)^fatal error: (runtime: )?(out of memory|cannot allocate memory)`)
	failLine    = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)
)

func failedTest(output []byte) string {
	if m := failLine.FindSubmatch(output); m != nil {
		return string(m[1])
	}
	return ""
}

// limitedBuffer keeps the beginning of what is written to it.
type limitedBuffer struct{ bytes.Buffer }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	_, _ = b.Buffer.Write(p[:min(len(p), max(0, maxOutput-b.Len()))])
	return len(p), nil
}

// judge is a package whose tests judge mutants, and what the clean run found.
type judge struct {
	*pkg
	took    time.Duration // of the tests alone
	cost    time.Duration // with the build
	reached coverage      // nil when unknown: then it judges every mutant it links
	blind   string        // why it is unknown: the test that fails when it is built with coverage
}

// clean runs the tests of a package without a mutant; an error says which
// test fails. A second run measures which lines of the covered packages they
// reach.
func (r *runner) clean(ctx context.Context, p *pkg, covered []string) (*judge, error) {
	dir, err := os.MkdirTemp(r.dir, "clean")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	binary, start := filepath.Join(dir, "clean.test"), time.Now()
	if err := r.build(ctx, p, binary); err != nil {
		return nil, fmt.Errorf("%s: %w", p.rel, err)
	}
	built := time.Since(start)
	res, err := r.run(ctx, p, execution{binary: binary, limit: maxClean})
	if err != nil {
		return nil, err
	}
	if res.outcome != passed {
		return nil, fmt.Errorf("%s fails without any mutant: %s\n%s", p.rel, res.test+res.detail, res.output)
	}
	reached, blind, err := r.cover(ctx, p, dir, covered)
	return &judge{pkg: p, took: res.took, cost: built + res.took, reached: reached, blind: blind}, err
}

// cover returns no coverage, but which test failed, when the tests fail only because
// they are built with coverage, as one that counts allocations may.
func (r *runner) cover(ctx context.Context, p *pkg, dir string, covered []string) (reached coverage, failed string, err error) {
	binary, profile, programs := filepath.Join(dir, "cover.test"), filepath.Join(dir, "profile"), filepath.Join(dir, "programs")
	if err := os.Mkdir(programs, 0o755); err != nil {
		return nil, "", err
	}
	if err := r.build(ctx, p, binary, "-cover", "-covermode=set", "-coverpkg="+strings.Join(covered, ",")); err != nil {
		return nil, "", fmt.Errorf("%s, built with coverage: %w", p.rel, err)
	}
	res, err := r.run(ctx, p, execution{
		binary: binary, limit: maxClean,
		args: []string{"-test.coverprofile=" + profile, "-test.gocoverdir=" + programs},
		env:  []string{"GOCOVERDIR=" + programs}, // for programs that a test starts
	})
	if err != nil {
		return nil, "", err
	}
	if res.outcome != passed {
		return nil, strings.TrimSpace(res.test + " " + res.detail), nil
	}
	reached, err = readCoverage(profile)
	return reached, "", err
}

// limit is how long the tests of a package may take on a mutant.
func (r *runner) limit(j *judge) time.Duration { return 4*j.took + r.slack }

// overlay writes a mutant where the compiler finds it.
func overlay(m *mutant, dir string) (flag string, err error) {
	source := filepath.Join(dir, filepath.Base(m.file.path))
	if err := os.WriteFile(source, m.source(), 0o644); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {m.file.path: source}})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return "-overlay=" + name, os.WriteFile(name, list, 0o644)
}
