package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/Shopify/toxiproxy/v2"

	"github.com/leaderscope/leaderscope/test/electors"
	"github.com/leaderscope/leaderscope/test/record"
	"github.com/leaderscope/leaderscope/test/server"
)

const (
	// interval is how often each candidate is scraped.
	interval = 100 * time.Millisecond
	// stopping is how long a candidate may take to stop gracefully.
	stopping = 30 * time.Second
)

// life is one process of a candidate and what it showed.
type life struct {
	holder string
	log    string // the file

	mu       sync.Mutex
	readings []reading
	// last is what it printed at its end; nil when it was killed.
	last *reading
}

// recorded is what is left of the life.
func (l *life) recorded(candidate int) (recordedLife, error) {
	events, err := readJournal(l.log)
	return recordedLife{Candidate: candidate, Holder: l.holder, Events: events, Readings: l.readings, Last: l.last}, err
}

// process is a candidate behind a proxy of its own, and all lives that it had.
type process struct {
	number   int
	order    order
	dir      string
	proxy    *toxiproxy.Proxy
	cmd      *exec.Cmd
	output   *bufio.Reader
	scraping sync.WaitGroup
	rest     context.CancelFunc

	lives []*life
}

func newProcess(number int, o order, dir, upstream string) (*process, error) {
	proxy, err := electors.NewProxy(upstream)
	if err != nil {
		return nil, err
	}
	o.Address = proxy.Listen
	return &process{number: number, order: o, dir: dir, proxy: proxy}, nil
}

// start starts the next life and scrapes it until it ends.
func (p *process) start() error {
	o := p.order
	o.ID = fmt.Sprintf("%s%d-%d", record.Replica, p.number+1, len(p.lives)+1)
	o.Log = filepath.Join(p.dir, o.ID+".log")
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	p.cmd = exec.Command(self)
	p.cmd.Env = append(os.Environ(), orderVariable+"="+string(text))
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if verbose {
		p.cmd.Stderr = os.Stderr
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.output = bufio.NewReader(out)
	line, err := p.output.ReadString('\n')
	if err != nil {
		return fmt.Errorf("%s did not say where it can be read: %w", o.ID, err)
	}
	l := &life{holder: o.ID, log: o.Log}
	p.lives = append(p.lives, l)
	ctx, cancel := context.WithCancel(context.Background())
	p.rest = cancel
	p.scraping.Go(func() { l.scrape(ctx, strings.TrimSpace(line)) })
	return nil
}

func (l *life) scrape(ctx context.Context, address string) {
	client := &http.Client{Timeout: time.Second}
	defer client.CloseIdleConnections()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		r, err := server.Ask[reading](ctx, client, address)
		if err != nil {
			continue // it is suspended, or gone
		}
		l.mu.Lock()
		l.readings = append(l.readings, r)
		l.mu.Unlock()
	}
}

func (p *process) signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }

// kill ends the process at once.
func (p *process) kill() {
	if p.cmd == nil {
		return
	}
	p.rest()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // being killed is an error of its own
	p.scraping.Wait()
	p.cmd = nil
}

// quit asks the process to stop, and keeps what it exports at its end.
func (p *process) quit() error {
	if err := p.signal(syscall.SIGTERM); err != nil {
		return err
	}
	var last reading
	printed := make(chan error, 1)
	go func() { printed <- json.NewDecoder(p.output).Decode(&last) }()
	var err error
	select {
	case err = <-printed:
	case <-time.After(stopping):
		err = fmt.Errorf("not within %v", stopping)
	}
	life := p.lives[len(p.lives)-1]
	p.kill()
	if err != nil {
		return fmt.Errorf("%s did not stop: %w", life.holder, err)
	}
	life.last = &last
	return nil
}

func (p *process) close() {
	p.kill()
	p.proxy.Stop()
}
