package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// seeded is a fault that is put into the product to see whether a soak finds
// it.
type seeded struct {
	what string
	file string // from the root of the repository
	// good is what the file has once, and bad is put in its place: it has the fault
	// where SEEDED is true.
	good, bad string
	// only says which faults of a run find it, by words that contain finds; the
	// run of each of the electors does.
	only, finds string
	electors    []string
}

// everyLock is each elector whose renewals its client tells.
var everyLock = []string{"etcd", "redis", "postgres", "nats", "zookeeper", "kubernetes"}

const (
	findsEnd   = "later than the backend's"
	findsLoss  = "at a stretch without the lock"
	findsTwice = "leader_renewals_total that succeeded is"
)

var seededFaults = []seeded{
	{
		what: "the lease end is taken from after the answer", file: "instrument/etcdlock/keeper.go",
		good: "k.end = sent.Add(time.Duration(resp.TTL) * time.Second)",
		bad:  "k.end = sent.Add(time.Duration(resp.TTL) * time.Second)\n\tif SEEDED {\n\t\tk.end = time.Now().Add(time.Duration(resp.TTL) * time.Second)\n\t}",
		only: "delayed", finds: findsEnd, electors: []string{"etcd"},
	},
	{
		what: "the lease end is taken from after the answer, where the adapter renews", file: "instrument/redislocklead/holding.go",
		good: "end := sent.Add(h.ttl); end.After(h.end) {",
		bad:  "end := sent.Add(h.ttl); SEEDED {\n\t\th.end = time.Now().Add(h.ttl)\n\t} else if end.After(h.end) {",
		only: "delayed", finds: findsEnd, electors: []string{"redis"},
	},
	{
		what: "the lease end is taken from after the answer, where the bucket has it", file: "instrument/natskv/keeper.go",
		good: "\tk.counts(sent, granted)\n\tk.report()", bad: "\tif SEEDED {\n\t\tsent = time.Now()\n\t}\n\tk.counts(sent, granted)\n\tk.report()",
		only: "delayed", finds: findsEnd, electors: []string{"nats"},
	},
	{
		what: "the lease end is taken from after the answer, where the record has it", file: "instrument/k8slease/lock.go",
		good: "held.extend(asked, record)", bad: "if SEEDED {\n\t\t\tasked = time.Now()\n\t\t}\n\t\theld.extend(asked, record)",
		only: "delayed", finds: findsEnd, electors: []string{"kubernetes"},
	},
	{
		what: "a loss is missed: the key was deleted", file: "instrument/etcdlock/key.go",
		good: "\t\t\ts.Lost(errDeleted)\n\t\t\treturn false", bad: "\t\t\tif !SEEDED {\n\t\t\t\ts.Lost(errDeleted)\n\t\t\t}\n\t\t\treturn false",
		only: "deleted", finds: findsLoss, electors: []string{"etcd"},
	},
	{
		what: "a renewal that found no record is no loss", file: "instrument/internal/lock/change.go",
		good: "s.close(t, r.Now, catalog.Lost, false)\n\t\treturn true, true", bad: "if !SEEDED {\n\t\t\ts.close(t, r.Now, catalog.Lost, false)\n\t\t\treturn true, true\n\t\t}",
		only: "deleted", finds: findsLoss, electors: []string{"redis"},
	},
	{
		what: "a loss that the elector reports is missed", file: "instrument/term.go",
		good: "ended := t.e.lock.Lost(&t.state, now, how)", bad: "ended := !SEEDED && t.e.lock.Lost(&t.state, now, how)",
		only: "deleted", finds: findsLoss, electors: []string{"postgres", "nats", "zookeeper"},
	},
	{
		what: "a renewal is counted twice", file: "instrument/internal/lock/change.go",
		good: "counts.renewals[r.Result]++", bad: "counts.renewals[r.Result]++\n\t\tif SEEDED {\n\t\t\tcounts.renewals[r.Result]++\n\t\t}",
		only: "gracefully", finds: findsTwice, electors: everyLock,
	},
}

// seededLength is how long the run takes that finds a seeded fault.
const seededLength = 30 * time.Second

// seedVariable chooses a fault, by its place in seededFaults, of a program that
// has all of them. Without it the program has none.
const seedVariable = "LEADERSCOPE_SOAK_FAULT"

// apply returns the file with the fault in it.
func (s seeded) apply(text []byte, place int) ([]byte, error) {
	if n := bytes.Count(text, []byte(s.good)); n != 1 {
		return nil, fmt.Errorf("seeded fault %q: %s has %q %d times, want once", s.what, s.file, s.good, n)
	}
	bad := strings.Replace(s.bad, "SEEDED", fmt.Sprintf("(seededFault == %q)", fmt.Sprint(place)), 1)
	return bytes.Replace(text, []byte(s.good), []byte(bad), 1), nil
}

// overlay returns the files that have faults in them, and in each of their
// packages one more, which chooses the fault; by path from the root.
func overlay(root string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for i, s := range seededFaults {
		text, changed := files[s.file]
		if !changed {
			var err error
			if text, err = os.ReadFile(filepath.Join(root, s.file)); err != nil {
				return nil, err
			}
		}
		with, err := s.apply(text, i)
		if err != nil {
			return nil, err
		}
		files[s.file] = with
		parsed, err := parser.ParseFile(token.NewFileSet(), s.file, text, parser.PackageClauseOnly)
		if err != nil {
			return nil, err
		}
		files[filepath.Join(filepath.Dir(s.file), "seeded_fault.go")] = fmt.Appendf(nil, "package %s\n\nimport \"os\"\n\nvar seededFault = os.Getenv(%q)\n", parsed.Name, seedVariable)
	}
	return files, nil
}

// build returns this program with all faults in it.
func build(ctx context.Context, root, dir string) (binary string, err error) {
	files, err := overlay(root)
	if err != nil {
		return "", err
	}
	replaced := map[string]string{}
	for name, text := range files {
		file := filepath.Join(dir, strings.ReplaceAll(name, string(filepath.Separator), "-"))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return "", err
		}
		replaced[filepath.Join(root, name)] = file
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": replaced})
	if err != nil {
		return "", err
	}
	listed, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "soak")
	if err := os.WriteFile(listed, list, 0o600); err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, "go", "build", "-overlay="+listed, "-o", binary, ".")
	build.Dir = filepath.Join(root, "test", "soak")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the program with faults: %w\n%s", err, out)
	}
	return binary, nil
}

// seedFaults builds this program with the faults of an elector, or of all, and runs it
// once with each, some at once. Every run must find its fault, in words that
// name it. One that did not is repeated, with other faults of the run and alone:
// a busy machine may explain it.
func (o options) seedFaults(ctx context.Context, root string) error {
	dir, err := os.MkdirTemp("", "leaderscope-seeded-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := build(ctx, root, dir)
	if err != nil {
		return err
	}
	return o.findFaults(ctx, seededRuns(o.elector), func(r seededRun, number uint64) (string, error) {
		return r.run(ctx, binary, filepath.Join(root, "test"), number)
	})
}

// seededRun is a fault and the elector that it is in.
type seededRun struct {
	seeded
	place   int
	elector string
}

// seededRuns are those of an elector, or of all.
func seededRuns(elector string) (all []seededRun) {
	for i, s := range seededFaults {
		for _, e := range s.electors {
			if elector == everyElector || elector == e {
				all = append(all, seededRun{s, i, e})
			}
		}
	}
	return all
}

// findFaults runs all and says which did not find their faults.
func (o options) findFaults(ctx context.Context, all []seededRun, run func(r seededRun, number uint64) (said string, err error)) error {
	try := func(r seededRun, number uint64) error {
		fmt.Printf("running %s with a fault in the product: %s\n", r.elector, r.what)
		said, err := run(r, number)
		if err != nil {
			return err
		}
		return r.found(r.elector, said)
	}
	missed := make([]error, len(all))
	slots := make(chan struct{}, max(o.parallel, 1))
	var running sync.WaitGroup
	for i, r := range all {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			missed[i] = try(r, o.seed)
		})
	}
	running.Wait()
	for i, r := range all {
		for again := range o.repeat {
			if missed[i] == nil || ctx.Err() != nil {
				break
			}
			fmt.Printf("REPEATED: %v\n", missed[i])
			missed[i] = try(r, o.seed+uint64(again)+1)
		}
	}
	return errors.Join(missed...)
}

// found is an error if what a run has said does not name the fault. A server
// that is not here is none, unless all are required.
func (s seeded) found(elector, said string) error {
	switch {
	case strings.Contains(said, s.finds):
		fmt.Printf("found by %s: %s\n", elector, s.what)
		return nil
	case strings.Contains(said, "SKIPPED "+elector):
		fmt.Printf("SKIPPED: no server of %s: %s\n", elector, s.what)
		return nil
	}
	return fmt.Errorf("%s did not find that %s: no %q in\n%s", elector, s.what, s.finds, said)
}

// run returns what a run with the fault found.
func (s seededRun) run(ctx context.Context, binary, dir string, number uint64) (said string, err error) {
	soaking := exec.CommandContext(ctx, binary, "-elector", s.elector, "-for", seededLength.String(), "-only", s.only, "-seed", fmt.Sprint(number))
	soaking.Dir = dir
	soaking.Env = append(os.Environ(), seedVariable+"="+fmt.Sprint(s.place))
	soaking.Cancel = func() error { return soaking.Process.Signal(os.Interrupt) }
	out, err := soaking.CombinedOutput()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		return "", err
	}
	return string(out), nil
}
