//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// outside is leader-observer, which watches the etcd of the replicas. It is a
// program of its own, as in production: none of it is in the replicas.
type outside struct {
	process *process
	address string // of /metrics
}

// watchFromOutside starts leader-observer and scrapes it too. Without a
// program it is built from this repository.
func (d *demo) watchFromOutside(ctx context.Context, program string) error {
	if program == "" {
		program = filepath.Join(d.dir, outsideName)
		d.screen.say(buildingObserver)
		if err := d.screen.buildObserver(ctx, program); err != nil {
			return err
		}
	}
	ports, err := freePorts(1)
	if err != nil {
		return err
	}
	key, file := filepath.Join(d.dir, "key"), filepath.Join(d.dir, outsideName+".yaml")
	if err := writePrivate(key, append(d.key, '\n')); err != nil {
		return err
	}
	if err := writePrivate(file, []byte(d.observerYAML(ports[0], key))); err != nil {
		return err
	}
	if err := d.announce(outsideName, ports[0]); err != nil {
		return err
	}
	p, err := d.cluster.launcher.run(exec.Command(program, "--config", file), filepath.Join(d.dir, outsideName+".log"), ownGroup())
	if err != nil {
		return err
	}
	d.outside = &outside{p, ports[0]}
	d.observer.others[outsideName] = ports[0]
	return d.scrape(d.cluster.addresses())
}

// observerYAML is the configuration of leader-observer. It has the key of the
// replicas, so that a lock and a holder have one label in both views.
func (d *demo) observerYAML(listen, key string) string {
	var endpoints []string
	for _, address := range d.cluster.clients() {
		endpoints = append(endpoints, "http://"+address)
	}
	return fmt.Sprintf("listen: %s\nredaction: {policy: hash, keyFile: %q, keyID: %s}\netcd:\n  - endpoints: [%s]\n    prefixes: [%s/]\n",
		listen, key, keyID, strings.Join(endpoints, ", "), leaderLock)
}

// buildObserver builds it in the workspace of this repository, and shows how far
// that is: from nothing, it takes minutes.
func (s *screen) buildObserver(ctx context.Context, file string) error {
	build := exec.CommandContext(ctx, "go", "build", "-v", "-o", file, "github.com/leaderscope/leaderscope/cmd/leader-observer")
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GOWORK=") {
			build.Env = append(build.Env, v)
		}
	}
	out := &builtPackages{screen: s}
	build.Stderr = out
	if err := build.Run(); err != nil {
		return fmt.Errorf("go build leader-observer: %w: %s", err, strings.TrimSpace(out.other.String()))
	}
	return nil
}

// builtPackages counts the packages that go build -v names, and keeps what else
// it says.
type builtPackages struct {
	screen *screen
	line   []byte
	count  int
	other  strings.Builder
}

// saidEach is how many packages make a line of progress: up to eight in all.
const saidEach = 100

func (b *builtPackages) Write(text []byte) (int, error) {
	b.line = append(b.line, text...)
	for {
		line, rest, whole := bytes.Cut(b.line, []byte("\n"))
		if !whole {
			return len(text), nil
		}
		b.line = rest
		if bytes.ContainsAny(line, " \t:#") {
			fmt.Fprintf(&b.other, "%s\n", line)
			continue
		}
		if b.count++; b.count%saidEach == 0 {
			b.screen.say("    %d packages built", b.count)
		}
	}
}
