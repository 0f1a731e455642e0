//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Variables that tell a copy of this program that it is a replica, and where
// its configuration lies, or the janitor, and what to remove.
const (
	replicaVariable = "LEADERSCOPE_QUICKSTART_REPLICA"
	janitorVariable = "LEADERSCOPE_QUICKSTART_JANITOR"
)

// launcher starts copies of this program that die with it. The kernel kills a
// child when the thread that started it ends, so one thread starts them all
// and stays.
type launcher struct {
	start chan func()
}

func newLauncher() *launcher {
	l := &launcher{start: make(chan func())}
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for f := range l.start {
			f()
		}
	}()
	return l
}

// close lets the thread go. Children must have ended.
func (l *launcher) close() { close(l.start) }

// launch starts a copy of this program with one more variable. Its standard
// error goes to log. attr puts it into a process group of its own, so that
// Ctrl-C reaches the parent alone.
func (l *launcher) launch(variable, value, log string, attr *syscall.SysProcAttr) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), variable+"="+value)
	return l.run(cmd, log, attr)
}

// run starts a program in the same way.
func (l *launcher) run(cmd *exec.Cmd, log string, attr *syscall.SysProcAttr) (*process, error) {
	stderr, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	cmd.Stderr = stderr
	cmd.SysProcAttr = attr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	started := make(chan error)
	l.start <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(cmd.Path), err)
	}
	p := &process{cmd: cmd, stdin: stdin, ended: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// process is a running copy of this program.
type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	ended chan struct{}
	err   error // of the process; to be read once ended is closed

	mu     sync.Mutex
	doomed bool
}

// signal reaches the process and its children.
func (p *process) signal(s syscall.Signal) error {
	select {
	case <-p.ended:
		return os.ErrProcessDone
	default:
		return syscall.Kill(-p.cmd.Process.Pid, s)
	}
}

// kill ends the process at once and waits until it is gone.
func (p *process) kill() {
	p.mu.Lock()
	p.doomed = true
	p.mu.Unlock()
	_ = p.signal(syscall.SIGKILL)
	<-p.ended
}

// stop tells the process to end, and kills it after that time.
func (p *process) stop(grace time.Duration) {
	p.mu.Lock()
	p.doomed = true
	p.mu.Unlock()
	_ = p.signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(grace):
		p.kill()
	}
}

// isDoomed reports whether the end of the process was asked for.
func (p *process) isDoomed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.doomed
}

// command writes one line to the process.
func (p *process) command(format string, args ...any) error {
	_, err := fmt.Fprintf(p.stdin, format+"\n", args...)
	return err
}

// janitor is the part of a copy of this program that removes the demo's files
// when the parent could not: it waits until the parent's end of the pipe
// closes, and does not mind how.
func janitor(dir string, parent io.Reader) error {
	if !strings.HasPrefix(filepath.Base(dir), tempPrefix) {
		return fmt.Errorf("%s was not made by this program", dir)
	}
	_, err := io.Copy(io.Discard, parent)
	return errors.Join(err, removeAll(dir))
}
