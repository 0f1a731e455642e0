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
	"sync"
	"syscall"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/kubernetes"
)

// patience is how long anything may take on a loaded machine.
const patience = time.Minute

// nodeVariable tells a copy of this program that it is a node, and its
// configuration.
const nodeVariable = "LEADERSCOPE_K8S_LEASE_NODE"

// options say where the API server is; one of the two is set.
type options struct {
	kubeconfig string // of a cluster that is there
	binary     string // kube-apiserver, to be started
	namespace  string
}

// stage is an API server and the nodes' processes.
type stage struct {
	dir    string
	server *apiServer // nil on a cluster that was there
	config nodeConfig
	client *kubernetes.Clientset
	tell   func(name string, e event) // may be nil

	mu    sync.Mutex
	nodes []*process
	more  chan struct{} // closed when something happens
}

// newStage finds or starts the server. What it returns must be closed, also
// beside an error.
func newStage(ctx context.Context, o options, tell func(string, event)) (s *stage, err error) {
	s = &stage{tell: tell, more: make(chan struct{}), config: nodeConfig{
		Kubeconfig: o.kubeconfig, Namespace: o.namespace, Lease: "leaderscope-example-" + rand.String(8),
	}}
	if o.kubeconfig == "" {
		if s.dir, err = os.MkdirTemp("", "leaderscope-k8s-lease-"); err != nil {
			return s, err
		}
		if s.server, err = startAPIServer(ctx, o.binary, s.dir); err != nil {
			return s, err
		}
		s.config.Kubeconfig = s.server.kubeconfig
	}
	s.client, err = connect(s.config.Kubeconfig)
	return s, err
}

// close ends all processes and removes what they left, on the cluster too.
func (s *stage) close() (failed error) {
	for _, p := range s.nodes {
		p.kill()
	}
	if s.server != nil {
		s.server.close()
	} else if s.client != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		err := s.client.CoordinationV1().Leases(s.config.Namespace).Delete(ctx, s.config.Lease, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			failed = fmt.Errorf("delete the Lease %s/%s: %w", s.config.Namespace, s.config.Lease, err)
		}
	}
	if s.dir != "" {
		failed = errors.Join(failed, os.RemoveAll(s.dir))
	}
	return failed
}

// lease is the object as it is now.
func (s *stage) lease(ctx context.Context) (*coordinationv1.Lease, error) {
	return s.client.CoordinationV1().Leases(s.config.Namespace).Get(ctx, s.config.Lease, metav1.GetOptions{})
}

// start runs a node and waits until its /metrics answer.
func (s *stage) start(ctx context.Context, name string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	config := s.config
	config.Name = name
	text, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), nodeVariable+"="+string(text))
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
	p := &process{name: name, cmd: cmd, stdin: stdin, stage: s, ended: make(chan struct{})}
	s.mu.Lock()
	s.nodes = append(s.nodes, p)
	s.mu.Unlock()
	go p.listen(stdout)
	if err := s.await(ctx, name+" to be there", func() bool { return len(p.said) > 0 || p.gone() }); err != nil {
		return p, err
	}
	said := p.history()
	if len(said) == 0 {
		return p, fmt.Errorf("%s ended at once", name)
	}
	p.metrics = "http://" + said[0].Text + "/metrics"
	return p, nil
}

// await waits until ok, which is asked under the mutex whenever something
// happened.
func (s *stage) await(ctx context.Context, what string, ok func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		s.mu.Lock()
		done, more := ok(), s.more
		s.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, context.Cause(ctx))
		}
	}
}

// leader waits for a node that leads, other than old.
func (s *stage) leader(ctx context.Context, old *process) (leader *process, err error) {
	err = s.await(ctx, "a leader", func() bool {
		for _, p := range s.nodes {
			if p != old && !p.gone() && p.last().Count.Working > 0 {
				leader = p
			}
		}
		return leader != nil
	})
	return leader, err
}

// happened adds an event, and wakes those who wait.
func (s *stage) happened(p *process, e event) {
	if s.tell != nil {
		s.tell(p.name, e)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.said = append(p.said, e)
	s.wake()
}

// wake is called under the mutex.
func (s *stage) wake() {
	close(s.more)
	s.more = make(chan struct{})
}

// process is a node as its parent sees it.
type process struct {
	name    string
	stage   *stage
	metrics string // URL
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	ended   chan struct{} // closed when the process is gone

	said []event // guarded by the stage
}

func (p *process) listen(out io.Reader) {
	for in := json.NewDecoder(out); ; {
		var e event
		if in.Decode(&e) != nil {
			break
		}
		p.stage.happened(p, e)
	}
	_ = p.cmd.Wait() // being killed is an error of its own
	p.stage.mu.Lock()
	defer p.stage.mu.Unlock()
	close(p.ended)
	p.stage.wake()
}

// last is what the node said last. It is called under the mutex.
func (p *process) last() event {
	if len(p.said) == 0 {
		return event{}
	}
	return p.said[len(p.said)-1]
}

// history is all that the node has said.
func (p *process) history() []event {
	p.stage.mu.Lock()
	defer p.stage.mu.Unlock()
	return p.said
}

func (p *process) gone() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func (p *process) signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }

// stop has the node lead no more and waits for that; its /metrics stay.
func (p *process) stop(ctx context.Context) error {
	if _, err := fmt.Fprintln(p.stdin, orderStop); err != nil {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	return p.stage.await(ctx, p.name+" to stop", func() bool { return p.last().Kind == stopped || p.gone() })
}

// kill ends the node as kill -9 does and waits until it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}
