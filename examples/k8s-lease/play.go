//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/kubernetes"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

const introduction = `Three candidates elect a leader on a Kubernetes Lease of %v, with client-go.
leader_active is the middleware's gauge, %s client-go's own.

`

// clientGo is the gauge that Kubernetes' component-base makes of client-go's
// hook.
const clientGo = "leader_election_master_status"

// show plays the scenes; with keep the nodes continue until ctx ends.
func show(ctx context.Context, o options, keep bool) (err error) {
	fmt.Printf(introduction, leaseDuration, clientGo)
	d, err := newDirector(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if err := d.story(ctx); err != nil {
		return err
	}
	if keep {
		fmt.Print("\nThe remaining nodes keep running until Ctrl-C:\n")
		for _, c := range d.nodes {
			if !c.Gone() {
				fmt.Printf("  %s\n", c.Address())
			}
		}
		<-ctx.Done()
	}
	return nil
}

// director plays the show.
type director struct {
	cluster    *cluster // nil on one that was there
	kubeconfig string
	namespace  string
	leaseName  string
	client     *kubernetes.Clientset
	nodes      []*candidate
}

// newDirector finds or starts the server.
func newDirector(ctx context.Context, o options) (d *director, err error) {
	d = &director{kubeconfig: o.kubeconfig, namespace: o.namespace, leaseName: "leaderscope-example-" + rand.String(8)}
	if o.kubeconfig == "" {
		if d.cluster, err = startCluster(ctx, o.binary); err != nil {
			return nil, err
		}
		d.kubeconfig = d.cluster.kubeconfig
	}
	if d.client, err = connect(d.kubeconfig); err != nil && d.cluster != nil {
		err = errors.Join(err, d.cluster.close())
	}
	return d, err
}

// close ends all nodes and removes what they left, on the cluster too.
func (d *director) close() error {
	for _, c := range d.nodes {
		c.Kill()
	}
	if d.cluster != nil {
		return d.cluster.close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := d.client.CoordinationV1().Leases(d.namespace).Delete(ctx, d.leaseName, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete the Lease %s/%s: %w", d.namespace, d.leaseName, err)
	}
	return nil
}

// candidate is a node, and what it has told.
type candidate struct {
	*stage.Node
	led, ended atomic.Int64 // bodies
	terms      *int         // that it counted itself, once it has stopped
}

func (d *director) start(ctx context.Context, name string) (err error) {
	c := &candidate{}
	hear := func(line string) {
		fmt.Printf("%s  %s\n", name, line)
		switch line {
		case leads:
			c.led.Add(1)
		case stopped:
			c.ended.Add(1)
		}
	}
	if c.Node, err = stage.Start(ctx, name, hear, name, d.kubeconfig, d.namespace, d.leaseName); err != nil {
		return err
	}
	d.nodes = append(d.nodes, c)
	return nil
}

// working is how many of its bodies run.
func (c *candidate) working() int64 { return c.led.Load() - c.ended.Load() }

// stop ends the node's leadership and waits for that; its /metrics stay.
func (c *candidate) stop(ctx context.Context) error {
	if c.terms != nil {
		return nil
	}
	return c.Drain(ctx, &c.terms)
}

// leader waits for a node that leads, other than old.
func (d *director) leader(ctx context.Context, old *candidate) (leader *candidate, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err = stage.Until(ctx, "a leader", func(context.Context) (bool, error) {
		for _, c := range d.nodes {
			if c != old && !c.Gone() && c.working() > 0 {
				leader = c
			}
		}
		return leader != nil, nil
	})
	return leader, err
}

// lease is the object as it is now.
func (d *director) lease(ctx context.Context) (*coordinationv1.Lease, error) {
	return d.client.CoordinationV1().Leases(d.namespace).Get(ctx, d.leaseName, metav1.GetOptions{})
}

// story stops the leader gracefully, and kills the next.
func (d *director) story(ctx context.Context) error {
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		if err := d.start(ctx, name); err != nil {
			return err
		}
	}
	first, err := d.leader(ctx, nil)
	if err != nil {
		return err
	}
	if err := d.table(ctx); err != nil {
		return err
	}
	fmt.Printf("        %s stops gracefully; its process keeps running\n", first.Name)
	if err := first.stop(ctx); err != nil {
		return err
	}
	second, err := d.leader(ctx, first)
	if err != nil {
		return err
	}
	if err := d.table(ctx); err != nil {
		return err
	}
	fmt.Printf("        %s is killed (SIGKILL)\n", second.Name)
	second.Kill()
	if _, err := d.leader(ctx, second); err != nil {
		return err
	}
	return d.table(ctx)
}

// table prints what each node exposes, beside what it counted.
func (d *director) table(ctx context.Context) error {
	lease, err := d.lease(ctx)
	if err != nil {
		return fmt.Errorf("read the Lease: %w", err)
	}
	row := func(cells ...any) {
		fmt.Println(strings.TrimRight(fmt.Sprintf("%-8s%13v%32v%16v%22v", cells...), " "))
	}
	fmt.Println()
	row("", catalog.Active.Name(), clientGo, "bodies counted", catalog.FencingToken.Name())
	var ours, theirs, counted float64
	for _, c := range d.nodes {
		if c.Gone() {
			row(c.Name, "gone", "", "", "")
			continue
		}
		shown, err := c.Metrics(ctx)
		if err != nil {
			return err
		}
		token := "-"
		if led := shown.Select(catalog.FencingToken.Name()); len(led) > 0 {
			token = fmt.Sprint(led[0].Value)
		}
		active, master, working := shown.Of(catalog.Active.Name()), shown.Of(clientGo), float64(c.working())
		row(c.Name, active, master, working, token)
		ours, theirs, counted = ours+active, theirs+master, counted+working
	}
	row("sum", ours, theirs, counted, fmt.Sprintf("Lease: %d", *lease.Spec.LeaseTransitions))
	fmt.Println()
	return nil
}
