//go:build unix

package stage

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// process is a child in a process group of its own, so that Ctrl-C reaches
// the parent alone, which then stops things in order.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
	err   error // to be read once ended is closed
}

func start(cmd *exec.Cmd) (*process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	dieWithParent(cmd.SysProcAttr)
	failed := make(chan error)
	launching() <- func() { failed <- cmd.Start() }
	if err := <-failed; err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// launching is the one thread that starts children: the kernel takes a child
// down with the thread that started it, so that thread must stay.
var launching = sync.OnceValue(func() chan<- func() {
	calls := make(chan func())
	go func() {
		runtime.LockOSThread()
		for call := range calls {
			call()
		}
	}()
	return calls
})

func (p *process) signal(s syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, s) }

// stop asks the process to end, and kills it if it does not.
func (p *process) stop(s syscall.Signal) {
	p.signal(s)
	select {
	case <-p.ended:
	case <-time.After(20 * time.Second):
		p.kill()
	}
}

func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.ended
}
