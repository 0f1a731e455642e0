//go:build integration

package faults

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/test/server"
)

var of = electtest.Of

// process is one replica, behind a proxy of its own, and what it showed.
type process struct {
	t     *testing.T
	id    string
	order order
	proxy *toxiproxy.Proxy

	cmd      *exec.Cmd
	output   *bufio.Reader
	address  string
	watching sync.WaitGroup
	stop     context.CancelFunc

	mu       sync.Mutex
	life     int // how often it was started
	last     reading
	readings int
	terms    []*span
}

// span is when a term was first and last seen for certain: each reading took
// a while.
type span struct {
	name     string
	from, to time.Time
}

// start runs the replica and scrapes it ten times a second until it ends.
func (p *process) start() {
	p.t.Helper()
	text, err := json.Marshal(p.order)
	if err != nil {
		p.t.Fatal(err)
	}
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), orderVariable+"="+string(text))
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.cmd.Stderr = &lines{t: p.t, prefix: p.id}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.output = bufio.NewReader(out)
	line, err := p.output.ReadString('\n')
	if err != nil {
		p.t.Fatalf("%s: no address: %v", p.id, err)
	}
	p.address = strings.TrimSpace(line)
	ctx, cancel := context.WithCancel(context.Background())
	p.stop = cancel
	p.mu.Lock()
	p.life++
	p.last = reading{}
	p.mu.Unlock()
	p.watching.Go(func() { p.watch(ctx) })
}

func (p *process) watch(ctx context.Context) {
	client := &http.Client{Timeout: time.Second}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		r, err := server.Ask[reading](ctx, client, p.address)
		if err == nil {
			p.judge(r)
		}
	}
}

// judge holds a reading to what must be true of every one, and keeps it.
func (p *process) judge(r reading) {
	if why := r.wrong(); why != "" {
		p.t.Errorf("%s: %s in %v", p.id, why, r.Series)
	}
	leads := r.Series[of(catalog.Active)] > 0
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = r
	p.readings++
	if !leads {
		return
	}
	name := fmt.Sprintf("%s, life %d, term %v", p.id, p.life, r.Series[of(catalog.Acquired)])
	if n := len(p.terms); n == 0 || p.terms[n-1].name != name {
		p.terms = append(p.terms, &span{name: name, from: r.Until})
	}
	p.terms[len(p.terms)-1].to = r.At
}

func (p *process) now() reading {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// leads says that a reading of the last half second shows the process active.
func (p *process) leads() bool {
	r := p.now()
	return time.Since(r.At) < 500*time.Millisecond && r.Series[of(catalog.Active)] > 0
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatalf("%s: %v: %v", p.id, s, err)
	}
}

// kill ends the process at once.
func (p *process) kill() {
	if p.cmd == nil {
		return
	}
	p.stop()
	p.watching.Wait()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // being killed is an error of its own
	p.cmd = nil
}

// quit asks the process to stop and returns what it would export at its end.
func (p *process) quit() (last reading, err error) {
	p.signal(syscall.SIGTERM)
	printed := make(chan error, 1)
	go func() { printed <- json.NewDecoder(p.output).Decode(&last) }()
	select {
	case err = <-printed:
	case <-time.After(patience):
		err = fmt.Errorf("%s did not stop within %v", p.id, patience)
	}
	p.kill()
	return last, err
}

// lines writes a replica's words into the test's log.
type lines struct {
	t      *testing.T
	prefix string
}

func (l *lines) Write(b []byte) (int, error) {
	if testing.Verbose() && os.Getenv("LEADERSCOPE_TALK") != "" {
		fmt.Fprintf(os.Stderr, "%s | %s", l.prefix, b)
	}
	return len(b), nil
}

var _ io.Writer = (*lines)(nil)
