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
	"strings"
	"time"
)

// seeded is a fault that is put into the product to see whether a soak finds
// it.
type seeded struct {
	what      string
	file      string // from the root of the repository
	good, bad string
	// elector and only say which run finds it, by words that contain finds.
	elector, only, finds string
}

var seededFaults = []seeded{
	{
		what: "the lease end is taken from after the answer", file: "instrument/etcdlock/keeper.go",
		good: "k.end = sent.Add(time.Duration(resp.TTL) * time.Second)", bad: "k.end = sent.Add(time.Since(sent) + time.Duration(resp.TTL)*time.Second)",
		elector: "etcd", only: "delayed", finds: "later than the backend's",
	},
	{
		what: "a loss is missed: the key was deleted", file: "instrument/etcdlock/key.go",
		good: "\t\t\ts.Lost(errDeleted)\n\t\t\treturn false", bad: "\t\t\treturn false",
		elector: "etcd", only: "deleted", finds: "at a stretch without the lock",
	},
	{
		what: "a renewal is counted twice", file: "instrument/internal/lock/change.go",
		good: "counts.renewals[r.Result]++", bad: "counts.renewals[r.Result] += 2",
		elector: "etcd", only: "gracefully", finds: "leader_renewals_total that succeeded is",
	},
	{
		what: "the lease end is taken from after the answer, where the adapter renews", file: "instrument/redislocklead/holding.go",
		good: "end := sent.Add(h.ttl)", bad: "end := sent.Add(time.Since(sent) + h.ttl)",
		elector: "redis", only: "delayed", finds: "later than the backend's",
	},
	{
		what: "a renewal that found no record is no loss", file: "instrument/internal/lock/change.go",
		good: "s.close(t, r.Now, catalog.Lost, false)\n\t\treturn true, true", bad: "return true, false",
		elector: "redis", only: "deleted", finds: "at a stretch without the lock",
	},
}

// seededLength is how long the run takes that finds a seeded fault.
const seededLength = 45 * time.Second

// apply returns the file with the fault in it.
func (s seeded) apply(text []byte) ([]byte, error) {
	if n := bytes.Count(text, []byte(s.good)); n != 1 {
		return nil, fmt.Errorf("seeded fault %q: %s has %q %d times, want once", s.what, s.file, s.good, n)
	}
	return bytes.Replace(text, []byte(s.good), []byte(s.bad), 1), nil
}

// seed builds this program once with each fault of an elector, or of all, and
// runs it. Every one must be found, in words that name it.
func seed(ctx context.Context, root, elector string, number uint64) error {
	var missed []string
	for _, s := range seededFaults {
		if elector != everyElector && s.elector != elector {
			continue
		}
		said, err := s.run(ctx, root, number)
		if err != nil {
			return err
		}
		if !strings.Contains(said, s.finds) {
			missed = append(missed, fmt.Sprintf("%s: no %q in\n%s", s.what, s.finds, said))
			continue
		}
		fmt.Printf("found: %s\n", s.what)
	}
	if len(missed) > 0 {
		return errors.New("not found: " + strings.Join(missed, "\n"))
	}
	return nil
}

// run returns what a run with the fault found.
func (s seeded) run(ctx context.Context, root string, number uint64) (said string, err error) {
	dir, err := os.MkdirTemp("", "leaderscope-seeded-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
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
	fmt.Printf("running with a fault in the product: %s\n", s.what)
	soaking := exec.CommandContext(ctx, binary, "-elector", s.elector, "-for", seededLength.String(), "-only", s.only, "-seed", fmt.Sprint(number))
	soaking.Dir = filepath.Join(root, "test")
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
