//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// patience is how long anything may take on a loaded machine.
const patience = time.Minute

// nodeVariable tells a copy of this program that it is a node: its name and
// where its etcd is.
const nodeVariable = "LEADERSCOPE_FENCING_NODE"

// stage is an etcd and the nodes' processes.
type stage struct {
	dir    string
	server *server
	client *clientv3.Client
	ledger ledger
	nodes  []*process
	tell   func(name string, e event) // may be nil
}

// newStage starts the etcd. What it returns must be closed, also beside an
// error.
func newStage(tell func(string, event)) (*stage, error) {
	dir, err := os.MkdirTemp("", "leaderscope-fencing-")
	if err != nil {
		return &stage{}, err
	}
	s := &stage{dir: dir, server: &server{dir: filepath.Join(dir, "etcd")}, tell: tell}
	if err := s.server.start(); err != nil {
		return s, err
	}
	s.client, err = clientv3.New(clientv3.Config{Endpoints: []string{s.server.address}, Logger: zap.NewNop()})
	if err != nil {
		return s, err
	}
	s.ledger = ledger{s.client, "/" + lockName + "/"}
	return s, nil
}

// close ends all processes and removes what was stored.
func (s *stage) close() error {
	for _, p := range s.nodes {
		p.kill()
	}
	var failed error
	if s.client != nil {
		failed = s.client.Close()
	}
	if s.server != nil {
		s.server.stop()
	}
	if s.dir != "" {
		failed = errors.Join(failed, os.RemoveAll(s.dir))
	}
	return failed
}

// start runs a node and waits until its /metrics answer.
func (s *stage) start(ctx context.Context, name string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), nodeVariable+"="+name+","+s.server.address)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = ownGroup()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &process{name: name, cmd: cmd, stdin: stdin, ended: make(chan struct{}), more: make(chan struct{})}
	s.nodes = append(s.nodes, p)
	go p.listen(stdout, s.tell)
	e, err := p.await(ctx, "its /metrics", of(ready))
	p.metrics = "http://" + e.Text + "/metrics"
	return p, err
}

// process is a node as its parent sees it.
type process struct {
	name    string
	metrics string // URL
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	ended   chan struct{} // closed when the process is gone

	mu   sync.Mutex
	said []event
	more chan struct{} // closed with the next event
}

func (p *process) listen(out io.Reader, tell func(string, event)) {
	for in := json.NewDecoder(out); ; {
		var e event
		if in.Decode(&e) != nil {
			break
		}
		if tell != nil {
			tell(p.name, e)
		}
		p.mu.Lock()
		p.said = append(p.said, e)
		close(p.more)
		p.more = make(chan struct{})
		p.mu.Unlock()
	}
	_ = p.cmd.Wait() // being killed is an error of its own
	close(p.ended)
}

// history is all that the node has said.
func (p *process) history() ([]event, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said, p.more
}

// now is how much the node has said, to wait for what comes after.
func (p *process) now() int {
	said, _ := p.history()
	return len(said)
}

// await waits for an event and returns it.
func (p *process) await(ctx context.Context, what string, is func(event) bool) (event, error) {
	return p.awaitAfter(ctx, 0, what, is)
}

// awaitAfter waits for an event beyond the first of them.
func (p *process) awaitAfter(ctx context.Context, first int, what string, is func(event) bool) (event, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		said, more := p.history()
		for _, e := range said[first:] {
			if is(e) {
				return e, nil
			}
		}
		first = len(said)
		select {
		case <-more:
		case <-p.ended:
			if p.now() > first {
				continue
			}
			return event{}, fmt.Errorf("%s ended before %s", p.name, what)
		case <-ctx.Done():
			return event{}, fmt.Errorf("%s: waiting for %s: %w", p.name, what, context.Cause(ctx))
		}
	}
}

func of(kind string) func(event) bool { return func(e event) bool { return e.Kind == kind } }

// order writes one line to the node.
func (p *process) order(line string) error {
	_, err := fmt.Fprintln(p.stdin, line)
	return err
}

func (p *process) signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }

// stop has the node lead no more; its /metrics stay.
func (p *process) stop(ctx context.Context) (event, error) {
	if err := p.order(orderStop); err != nil {
		return event{}, err
	}
	return p.await(ctx, "its stop", of(stopped))
}

// kill ends the node as kill -9 does and waits until it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}
