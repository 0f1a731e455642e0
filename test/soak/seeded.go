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
	"slices"
	"strings"
	"sync"
	"time"
)

// seeded is a fault that is put into the product to see whether a soak finds
// it.
type seeded struct {
	what      string
	file      string // from the root of the repository
	good, bad string
	// only says which faults of a run find it, by words that contain finds; the
	// run of each of the electors does.
	only, finds string
	electors    []string
}

var seededFaults = []seeded{
	{
		what: "the lease end is taken from after the answer", file: "instrument/etcdlock/keeper.go",
		good: "k.end = sent.Add(time.Duration(resp.TTL) * time.Second)", bad: "k.end = sent.Add(time.Since(sent) + time.Duration(resp.TTL)*time.Second)",
		electors: []string{"etcd"}, only: "delayed", finds: "later than the backend's",
	},
	{
		what: "a loss is missed: the key was deleted", file: "instrument/etcdlock/key.go",
		good: "\t\t\ts.Lost(errDeleted)\n\t\t\treturn false", bad: "\t\t\treturn false",
		electors: []string{"etcd"}, only: "deleted", finds: "at a stretch without the lock",
	},
	{
		what: "a renewal is counted twice", file: "instrument/internal/lock/change.go",
		good: "counts.renewals[r.Result]++", bad: "counts.renewals[r.Result] += 2",
		electors: []string{"etcd", "redis"}, only: "gracefully", finds: "leader_renewals_total that succeeded is",
	},
	{
		what: "the lease end is taken from after the answer, where the adapter renews", file: "instrument/redislocklead/holding.go",
		good: "end := sent.Add(h.ttl)", bad: "end := sent.Add(time.Since(sent) + h.ttl)",
		electors: []string{"redis"}, only: "delayed", finds: "later than the backend's",
	},
	{
		what: "a renewal that found no record is no loss", file: "instrument/internal/lock/change.go",
		good: "s.close(t, r.Now, catalog.Lost, false)\n\t\treturn true, true", bad: "return true, false",
		electors: []string{"redis"}, only: "deleted", finds: "at a stretch without the lock",
	},
	{
		what: "a loss that the elector reports is missed", file: "instrument/term.go",
		good: "ended := t.e.lock.Lost(&t.state, now, how)", bad: "ended := false && t.e.lock.Lost(&t.state, now, how)",
		electors: []string{"postgres", "nats", "zookeeper"}, only: "deleted", finds: "at a stretch without the lock",
	},
}

// seededLength is how long the run takes that finds a seeded fault.
const seededLength = 30 * time.Second

// apply returns the file with the fault in it.
func (s seeded) apply(text []byte) ([]byte, error) {
	if n := bytes.Count(text, []byte(s.good)); n != 1 {
		return nil, fmt.Errorf("seeded fault %q: %s has %q %d times, want once", s.what, s.file, s.good, n)
	}
	return bytes.Replace(text, []byte(s.good), []byte(s.bad), 1), nil
}

// seed builds this program once with each fault of an elector, or of all, and
// runs it, some at once. Every run must find its fault, in words that name it.
func seed(ctx context.Context, root, elector string, number uint64, parallel int) error {
	missed := make([]error, len(seededFaults))
	slots := make(chan struct{}, max(parallel, 1))
	var running sync.WaitGroup
	for i, s := range seededFaults {
		if elector != everyElector {
			s.electors = slices.DeleteFunc(slices.Clone(s.electors), func(e string) bool { return e != elector })
		}
		if len(s.electors) == 0 {
			continue
		}
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			missed[i] = s.try(ctx, root, number)
		})
	}
	running.Wait()
	return errors.Join(missed...)
}

// try builds the program with the fault, and runs it with each elector at once.
func (s seeded) try(ctx context.Context, root string, number uint64) error {
	dir, err := os.MkdirTemp("", "leaderscope-seeded-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := s.build(ctx, root, dir)
	if err != nil {
		return err
	}
	missed := make([]error, len(s.electors))
	var running sync.WaitGroup
	for i, e := range s.electors {
		running.Go(func() {
			fmt.Printf("running %s with a fault in the product: %s\n", e, s.what)
			said, err := s.run(ctx, binary, filepath.Join(root, "test"), e, number)
			if err == nil {
				err = s.found(e, said)
			}
			missed[i] = err
		})
	}
	running.Wait()
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

// build returns this program with the fault in it.
func (s seeded) build(ctx context.Context, root, dir string) (binary string, err error) {
	file := filepath.Join(root, s.file)
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	if text, err = s.apply(text); err != nil {
		return "", err
	}
	changed, overlay, binary := filepath.Join(dir, filepath.Base(file)), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "soak")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {file: changed}})
	if err := errors.Join(err, os.WriteFile(changed, text, 0o600), os.WriteFile(overlay, list, 0o600)); err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, "go", "build", "-overlay="+overlay, "-o", binary, ".")
	build.Dir = filepath.Join(root, "test", "soak")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("seeded fault %q: %w\n%s", s.what, err, out)
	}
	return binary, nil
}

// run returns what a run with the fault found.
func (s seeded) run(ctx context.Context, binary, dir, elector string, number uint64) (said string, err error) {
	soaking := exec.CommandContext(ctx, binary, "-elector", elector, "-for", seededLength.String(), "-only", s.only, "-seed", fmt.Sprint(number))
	soaking.Dir = dir
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
