package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// What a node tells its parent.
const (
	ready   = "ready" // Text is where its /metrics are
	leads   = "leads"
	over    = "over" // its work has ended
	stopped = "stopped"
)

// event is one line that a node writes to its standard output.
type event struct {
	Kind  string
	Text  string
	Count count
}

// orderStop has a node lead no more; its /metrics stay. It ends with its
// standard input.
const orderStop = "stop"

// nodeConfig is what a node is started with.
type nodeConfig struct {
	Name       string
	Kubeconfig string // a file
	Namespace  string
	Lease      string
}

// runNode runs a node until its standard input ends.
func runNode(ctx context.Context, cfg nodeConfig, in io.Reader, out io.Writer) error {
	client, err := connect(cfg.Kubeconfig)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	lines := json.NewEncoder(out)
	tell := func(e event) {
		mu.Lock()
		defer mu.Unlock()
		_ = lines.Encode(e) // without a parent the node ends
	}
	n, err := newNode(cfg.Name, client, cfg.Namespace, cfg.Lease, tell)
	if err != nil {
		return err
	}
	address, stop, err := n.serve()
	if err != nil {
		return err
	}
	defer stop()
	tell(event{Kind: ready, Text: address})

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		err := n.run(ctx)
		n.say(stopped, count{})
		ended <- err
	}()
	for lines := bufio.NewScanner(in); lines.Scan(); {
		if lines.Text() == orderStop {
			cancel()
		}
	}
	cancel()
	return <-ended
}

// connect makes a client that gives up on a request within the renew deadline.
func connect(kubeconfig string) (*kubernetes.Clientset, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", kubeconfig, err)
	}
	config.Timeout = renewDeadline / 2
	return kubernetes.NewForConfig(config)
}
