package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// What a node tells its parent.
const (
	ready   = "ready"   // Text is where its /metrics are
	leads   = "leads"   // with Token
	between = "between" // it has looked at its term and has not yet written
	wrote   = "wrote"
	refused = "refused" // Text is why, Late how long its lease was over
	over    = "over"    // its term; Text is the error, Late how long its lease was over
	stopped = "stopped"
)

// event is one line that a node writes to its standard output.
type event struct {
	Kind   string
	Token  uint64
	Number int // of the entry
	Text   string
	Late   float64 // seconds
	Count  count
}

// Lines that a node takes from its standard input. It ends with that.
const (
	orderHold = "hold" // wait before the next write
	orderGo   = "go"   // do not wait any more
	orderStop = "stop" // lead no more; /metrics stay
)

// child is the part of a node's process that talks to its parent.
type child struct {
	mu  sync.Mutex
	out *json.Encoder

	held chan struct{}
}

// runNode runs a node until its standard input ends.
func runNode(ctx context.Context, name, etcd string, in io.Reader, out io.Writer) error {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{etcd}, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer client.Close()
	writer, address, stop, err := election()
	if err != nil {
		return err
	}
	defer stop()
	c := &child{out: json.NewEncoder(out)}
	n := &node{name: name, client: client, ledger: ledger{client, "/" + lockName + "/"}, writer: writer, tell: c.tell, between: c.between}
	c.tell(event{Kind: ready, Text: address})

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n.run(ctx)
		c.tell(event{Kind: stopped, Count: n.count})
	}()
	c.obey(in, cancel)
	c.goOn()
	cancel()
	<-ended
	return nil
}

// obey carries out the parent's orders until there are no more.
func (c *child) obey(in io.Reader, stop func()) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		switch lines.Text() {
		case orderHold:
			c.mu.Lock()
			c.held = make(chan struct{})
			c.mu.Unlock()
		case orderGo:
			c.goOn()
		case orderStop:
			stop()
		}
	}
}

func (c *child) goOn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held != nil {
		close(c.held)
		c.held = nil
	}
}

// between waits here when the parent wants it to.
func (c *child) between(e event) {
	c.mu.Lock()
	held := c.held
	c.mu.Unlock()
	if held != nil {
		c.tell(e)
		<-held
	}
}

// tell cannot fail in a way that matters: without a parent the node ends.
func (c *child) tell(e event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.out.Encode(e)
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
