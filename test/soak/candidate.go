package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/test/electors"
)

const (
	// writesEvery is how often the leader writes to the register.
	writesEvery = 50 * time.Millisecond
	// windsDown is how long its work takes to stop.
	windsDown = 100 * time.Millisecond
)

// order tells a process of this program to be a candidate.
type order struct {
	Elector           string
	Address, Lock, ID string
	Log, Register     string // a file and a URL
}

const orderVariable = "LEADERSCOPE_SOAK_CANDIDATE"

// candidate leads when it can, and counts what it does.
type candidate struct {
	order
	m        *instrument.Middleware
	election *instrument.Election
	log      *journal

	runs, refused, begun, returned, renewed atomic.Int64
	naive, afterLock                        atomic.Int64
	answer                                  struct {
		sync.Mutex
		asked, heard time.Time // of the request that was sent last
	}
}

// run leads until SIGTERM. It prints where it can be read, and at its end a
// last reading.
func (o order) run() error {
	b, err := find(o.Elector)
	if err != nil {
		return err
	}
	c := &candidate{order: o}
	if c.log, err = openJournal(o.Log); err != nil {
		return err
	}
	if c.m, err = instrument.New(); err != nil {
		return err
	}
	c.election = c.m.Election("lock", b.options...)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	go func() {
		_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(c.read()) }))
	}()
	fmt.Println(l.Addr())

	go watchStalls(context.Background(), c.log.stalled)
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		<-asked
		c.log.write(eventStop)
		stop()
	}()
	if err := c.lead(ctx, b); err != nil && ctx.Err() == nil {
		return err
	}
	last := c.read()
	for deadline := time.Now().Add(5 * time.Second); last.Series[of(catalog.Running)] > 0 && time.Now().Before(deadline); last = c.read() {
		time.Sleep(10 * time.Millisecond) // a body that is on its way out
	}
	return json.NewEncoder(os.Stdout).Encode(last)
}

func (c *candidate) lead(ctx context.Context, b backend) error {
	r := electors.Replica{Address: c.Address, Lock: c.Lock, ID: c.ID, Renewed: c.hearsRenewal, Answered: c.hears}
	if b.campaign != nil {
		r.Stopped = func() {
			c.returned.Store(c.begun.Load())
			c.log.write(eventReturned)
		}
		return b.campaign(ctx, r, c.election, func(ctx context.Context) {
			c.afterLock.Add(1)
			c.work(ctx, nil)
			c.afterLock.Add(-1)
		})
	}
	return electors.Lead(ctx, b.connect, r, func(ctx context.Context, a instrument.Acquirer) error {
		c.log.write(eventRun)
		c.runs.Add(1)
		worked := false
		err := c.election.Run(ctx, a, func(ctx context.Context, t *instrument.Term) error {
			worked = true
			c.afterLock.Add(1)
			c.work(ctx, t)
			return nil
		})
		if worked {
			c.afterLock.Add(-1)
			c.returned.Add(1)
		} else {
			c.refused.Add(1)
		}
		c.log.write(eventReturned)
		return err
	})
}

// hearsRenewal counts an answer to a renewal while the candidate leads: some
// electors renew while they wait, too.
func (c *candidate) hearsRenewal() {
	if c.afterLock.Load() > 0 {
		c.renewed.Add(1)
	}
}

// hears notes an answer from which the candidate can know its lease end.
func (c *candidate) hears(asked time.Time) {
	c.answer.Lock()
	defer c.answer.Unlock()
	if asked.After(c.answer.asked) {
		c.answer.asked, c.answer.heard = asked, time.Now()
	}
}

// work writes to the register until ctx ends, and a moment longer, as work that
// cannot stop at once.
func (c *candidate) work(ctx context.Context, t *instrument.Term) {
	c.log.write(eventBegun)
	c.begun.Add(1)
	c.naive.Add(1)
	defer func() {
		c.naive.Add(-1)
		c.log.write(eventEnded)
	}()
	token, fenced := t.FencingToken()
	tick := time.NewTicker(writesEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			time.Sleep(windsDown)
			return
		case <-tick.C:
			c.store(token, fenced)
		}
	}
}

var register = &http.Client{Timeout: 500 * time.Millisecond}

// store writes to the register. A write that fails is none.
func (c *candidate) store(token uint64, fenced bool) {
	v := url.Values{"id": {c.ID}}
	if fenced {
		v.Set("token", strconv.FormatUint(token, 10))
	}
	resp, err := register.PostForm(c.Register, v)
	if err == nil {
		_ = resp.Body.Close()
	}
}

func (c *candidate) read() reading {
	r := reading{At: time.Now(), Before: c.deeds()}
	c.answer.Lock()
	r.Asked, r.Heard = c.answer.asked, c.answer.heard
	c.answer.Unlock()
	r.Series = electtest.Read(c.m, "lock")
	r.Naive, r.AfterLock = c.naive.Load() > 0, c.afterLock.Load() > 0
	r.After, r.Until = c.deeds(), time.Now()
	r.Broken = electtest.Broken(r.Series)
	r.Resources = used()
	return r
}

func (c *candidate) deeds() deeds {
	return deeds{Runs: c.runs.Load(), Refused: c.refused.Load(), Begun: c.begun.Load(), Returned: c.returned.Load(), Renewed: c.renewed.Load()}
}

// used reads what this process uses; 0 where the system does not tell.
func used() resources {
	r := resources{Goroutines: runtime.NumGoroutine()}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		r.Descriptors = len(open)
	}
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64)
			r.Memory = pages * int64(os.Getpagesize())
		}
	}
	return r
}
