package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// cluster is the replicas and the processes that they run in.
type cluster struct {
	dir      string
	launcher *launcher
	report   func(format string, args ...any)
	history  history

	mu       sync.Mutex
	closed   bool
	replicas map[string]*running
	watchers sync.WaitGroup
}

// running is a replica that is meant to be there. Its process may change.
type running struct {
	file    string // its configuration
	config  replicaConfig
	process *process
	paused  bool
}

// newCluster keeps configurations, logs and etcd data below dir. report is
// told what it did not ask for.
func newCluster(dir string, report func(string, ...any)) *cluster {
	return &cluster{dir: dir, launcher: newLauncher(), report: report, replicas: map[string]*running{}}
}

// add starts replicas that form one etcd cluster and write to the store with
// that address, or to none.
func (c *cluster) add(key []byte, store string, names ...string) error {
	ports, err := freePorts(3 * len(names))
	if err != nil {
		return err
	}
	var configs []replicaConfig
	var members []string
	for i, name := range names {
		m := memberConfig{Name: name, Dir: filepath.Join(c.dir, name), Client: ports[3*i], Peer: ports[3*i+1]}
		members = append(members, name+"=http://"+m.Peer)
		configs = append(configs, replicaConfig{Name: name, Member: m, Metrics: ports[3*i+2], Store: store, Key: key, KeyID: keyID})
	}
	for _, cfg := range configs {
		cfg.Member.Cluster = strings.Join(members, ",")
		if err := c.configure(cfg); err != nil {
			return err
		}
		if err := c.start(cfg.Name); err != nil {
			return err
		}
	}
	return nil
}

// configure writes the replica's configuration, which holds the key.
func (c *cluster) configure(cfg replicaConfig) error {
	b, err := json.Marshal(cfg)
	if err != nil {
		return err
	}
	file := filepath.Join(c.dir, cfg.Name+".json")
	c.mu.Lock()
	c.replicas[cfg.Name] = &running{file: file, config: cfg}
	c.mu.Unlock()
	return writePrivate(file, b)
}

// start starts a replica that does not run.
func (c *cluster) start(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.replicas[name]
	if c.closed || r == nil {
		return fmt.Errorf("%s is no longer wanted", name)
	}
	p, err := c.launcher.launch(replicaVariable, r.file, c.log(name), ownGroup())
	if err != nil {
		return err
	}
	r.process, r.paused = p, false
	c.history.end(name, isKilled, isStopped, isFallen, isSuspended)
	c.watchers.Go(func() { c.watch(name, p) })
	return nil
}

// watch starts a replica again that ended without being told to: a demo is
// there to be poked at.
func (c *cluster) watch(name string, p *process) {
	<-p.ended
	if p.isDoomed() {
		return
	}
	c.history.begin(name, isFallen)
	c.report("%s ended by itself (%v)%s; it is started again", name, p.err, c.lastWords(name))
	time.Sleep(time.Second) // the cause may take a moment to clear
	if err := c.start(name); err != nil {
		c.report("%s is not started again: %v", name, err)
	}
}

// kill ends a replica as kill -9 does.
func (c *cluster) kill(name string) error {
	p, err := c.of(name)
	if err != nil {
		return err
	}
	p.kill()
	c.history.begin(name, isKilled)
	c.history.end(name, withoutEtcd, withoutVoice)
	return nil
}

// stop tells a replica to end, and kills it after that time.
func (c *cluster) stop(name string, grace time.Duration) error {
	p, err := c.of(name)
	if err != nil {
		return err
	}
	c.history.begin(name, isStopped)
	p.stop(grace)
	return nil
}

// remove ends a replica for good.
func (c *cluster) remove(name string) error {
	p, err := c.of(name)
	if err != nil {
		return err
	}
	p.kill()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.replicas, name)
	return nil
}

// pause suspends a replica, its etcd member included.
func (c *cluster) pause(name string) error { return c.signal(name, syscall.SIGSTOP, true) }

// resume continues a suspended replica.
func (c *cluster) resume(name string) error { return c.signal(name, syscall.SIGCONT, false) }

func (c *cluster) signal(name string, s syscall.Signal, paused bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.replicas[name]
	if r == nil || r.process == nil {
		return fmt.Errorf("there is no replica %s", name)
	}
	r.paused = paused
	if paused {
		c.history.begin(name, isSuspended)
	} else {
		c.history.end(name, isSuspended)
	}
	return r.process.signal(s)
}

// tell sends a command to replicas; see replica.command. One that cannot hear
// it is reported.
func (c *cluster) tell(names []string, format string, args ...any) {
	for _, name := range names {
		p, err := c.of(name)
		if err == nil {
			c.history.told(name, fmt.Sprintf(format, args...))
			err = p.command(format, args...)
		}
		if err != nil {
			c.report("%s did not hear %q: %v", name, fmt.Sprintf(format, args...), err)
		}
	}
}

// close ends every process and waits for it. No replica starts after that.
func (c *cluster) close() {
	c.mu.Lock()
	c.closed = true
	var processes []*process
	for _, r := range c.replicas {
		if r.process != nil {
			processes = append(processes, r.process)
		}
	}
	c.mu.Unlock()
	for _, p := range processes {
		p.kill()
	}
	c.watchers.Wait()
	c.launcher.close()
}

func (c *cluster) of(name string) (*process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.replicas[name]; r != nil && r.process != nil {
		return r.process, nil
	}
	return nil, fmt.Errorf("there is no replica %s", name)
}

// names are the replicas in order.
func (c *cluster) names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.replicas))
}

// addresses are where /metrics is, by replica.
func (c *cluster) addresses() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	addresses := map[string]string{}
	for name, r := range c.replicas {
		addresses[name] = r.config.Metrics
	}
	return addresses
}

// clients are the addresses of the etcd members.
func (c *cluster) clients() (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(c.replicas)) {
		all = append(all, c.replicas[name].config.Member.Client)
	}
	return all
}

// state says in a word how the replica's process is.
func (c *cluster) state(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.replicas[name]
	if r == nil || r.process == nil {
		return "gone"
	}
	select {
	case <-r.process.ended:
		return "killed"
	default:
	}
	if r.paused {
		return "suspended"
	}
	return "running"
}

func (c *cluster) log(name string) string { return filepath.Join(c.dir, name+".log") }

// lastWords is the end of what the replica wrote to standard error.
func (c *cluster) lastWords(name string) string {
	b, err := os.ReadFile(c.log(name))
	text := strings.TrimSpace(string(b))
	if err != nil || text == "" {
		return ""
	}
	return ": " + text[strings.LastIndexByte(text, '\n')+1:]
}

// removeAll removes dir although processes that are just ending may still
// write to it.
func removeAll(dir string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for {
		if err = os.RemoveAll(dir); err == nil || !wait(ctx, 50*time.Millisecond) {
			return err
		}
	}
}
