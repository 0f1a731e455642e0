//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/examples/internal/stage/etcd"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

const introduction = `Two nodes write one ledger; a lease of %v says whose turn it is. The writer is
suspended just before a write. The ledger is a store that checks tokens.

`

// show plays the scenes; with keep the nodes continue until ctx ends.
func show(ctx context.Context, keep bool) (err error) {
	fmt.Printf(introduction, lease)
	d, err := newDirector()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	paused, other, err := d.suspendAndResume(ctx)
	if err != nil {
		return err
	}
	if err := d.report(ctx, paused, other); err != nil {
		return err
	}
	if keep {
		fmt.Printf("\nThe nodes keep running until Ctrl-C:\n  %s\n  %s\n", paused.Address(), other.Address())
		<-ctx.Done()
	}
	return nil
}

// director plays the show, over an etcd of its own.
type director struct {
	server *etcd.Server
	client *clientv3.Client
	ledger ledger
	nodes  []*actor
}

func newDirector() (*director, error) {
	server, err := etcd.Start()
	if err != nil {
		return nil, err
	}
	client, err := connect(server.Address())
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return &director{server: server, client: client, ledger: newLedger(client, nil)}, nil
}

// close ends all nodes and removes what was stored.
func (d *director) close() error {
	for _, a := range d.nodes {
		a.Kill()
	}
	return errors.Join(d.client.Close(), d.server.Close())
}

// start starts a node; args may say before which entry it is suspended.
func (d *director) start(ctx context.Context, name string, args ...string) (*actor, error) {
	a := &actor{}
	n, err := stage.Start(ctx, name, func(line string) { a.hear(name, line) }, append([]string{name, d.server.Address()}, args...)...)
	if err != nil {
		return nil, err
	}
	a.Node = n
	d.nodes = append(d.nodes, a)
	return a, nil
}

// actor is a node, and what it has told.
type actor struct {
	*stage.Node
	mu   sync.Mutex
	told []event
}

// hear takes a line of the node: an event, or something for the user.
func (a *actor) hear(name, line string) {
	var e event
	if json.Unmarshal([]byte(line), &e) == nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.told = append(a.told, e)
		line = describe(e)
	}
	if line != "" {
		fmt.Printf("%s  %s\n", name, line)
	}
}

// history is all that the node has told.
func (a *actor) history() []event {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.told
}

// await waits for an event beyond the first of them and returns it.
func (a *actor) await(ctx context.Context, first int, what string, is func(event) bool) (found event, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err = stage.Until(ctx, what+" of "+a.Name, func(context.Context) (bool, error) {
		gone := a.Gone()
		for _, e := range a.history()[first:] {
			if is(e) {
				found = e
				return true, nil
			}
		}
		if gone {
			return false, fmt.Errorf("%s ended before %s", a.Name, what)
		}
		return false, nil
	})
	return found, err
}

func of(kind string) func(event) bool { return func(e event) bool { return e.Kind == kind } }

func entry2(e event) bool { return e.Kind == wrote && e.Number == 2 }

// suspendAndResume is the story: it returns the node that was suspended, and
// the one that took over, when the former has given up.
func (d *director) suspendAndResume(ctx context.Context) (paused, other *actor, err error) {
	if paused, err = d.start(ctx, "node-1", "3"); err != nil {
		return nil, nil, err
	}
	if _, err = paused.await(ctx, 0, "the second entry", entry2); err != nil {
		return nil, nil, err
	}
	if other, err = d.start(ctx, "node-2"); err != nil {
		return nil, nil, err
	}
	fmt.Println("        node-1 is suspended: it has checked its term, but not yet written")
	if _, err = other.await(ctx, 0, "the second entry", entry2); err != nil {
		return nil, nil, err
	}
	fmt.Println("        node-1 is continued")
	paused.Continue()
	_, err = paused.await(ctx, 0, "the end of the term", of(termEnded))
	return paused, other, err
}

// suspendOnce is for the node: it stops the process (SIGSTOP) before the entry
// of that number, until the director continues it. Nothing is done without a
// number, and nothing before that entry of another term.
func suspendOnce(number []string) (before func(int)) {
	return func(n int) {
		if len(number) == 0 || number[0] != strconv.Itoa(n) {
			return
		}
		number = nil
		resumed := make(chan os.Signal, 1)
		signal.Notify(resumed, syscall.SIGCONT)
		defer signal.Stop(resumed)
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		<-resumed // this thread may run on for a moment
	}
}

// report prints what the two nodes expose, beside what they told.
func (d *director) report(ctx context.Context, paused, other *actor) error {
	entries, err := d.ledger.read(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("\nThe ledger has %d entries, %d of them out of turn.\n\n", len(entries), violations(entries))
	fmt.Printf("%-46s %21s %21s\n", "", paused.Name, other.Name)
	fmt.Printf("%-46s %21s %21s\n", "", "metric (counted)", "metric (counted)")
	var cells [2][]string
	for i, a := range []*actor{paused, other} {
		shown, err := a.Metrics(ctx)
		if err != nil {
			return err
		}
		for _, row := range rows {
			cell := short(shown.Of(row.metric.Name(), row.labels...))
			if row.counted != nil {
				cell += fmt.Sprintf(" (%v)", short(row.counted(a.history())))
			}
			cells[i] = append(cells[i], cell)
		}
	}
	for i, row := range rows {
		fmt.Printf("%-46s %21s %21s\n", row.name(), cells[0][i], cells[1][i])
	}
	return nil
}

// rows are what the show is about; counted is nil where a node has nothing to
// count.
var rows = []shownRow{
	{catalog.Acquired, nil, number(leads)},
	{catalog.FencingToken, nil, token},
	{catalog.FencingChecks, []string{"result", catalog.FencingAdmitted.String()}, number(wrote)},
	{catalog.FencingChecks, []string{"result", catalog.FencingStale.String()}, number(refused)},
	{catalog.FencingHighestToken, nil, nil},
	{catalog.Active, nil, nil},
	{catalog.Running, nil, nil},
	{catalog.TermsEnded, nil, number(termEnded)},
	{catalog.LeaseOverruns, nil, number(refused)},
	{catalog.ExecutionFailures, nil, number(refused)},
	{catalog.WorkAfterLoss, nil, late},
}

type shownRow struct {
	metric  *catalog.Metric
	labels  []string
	counted func([]event) float64
}

func (r shownRow) name() string {
	if r.labels == nil {
		return r.metric.Name()
	}
	return fmt.Sprintf("%s{%s=%q}", r.metric.Name(), r.labels[0], r.labels[1])
}

func number(kind string) func([]event) float64 {
	return func(told []event) (n float64) {
		for _, e := range told {
			if e.Kind == kind {
				n++
			}
		}
		return n
	}
}

// token is that of the node's last term.
func token(told []event) (t float64) {
	for _, e := range told {
		if e.Kind == leads {
			t = float64(e.Token)
		}
	}
	return t
}

// late is how long after its lease the node's refused writes came, in all.
func late(told []event) (seconds float64) {
	for _, e := range told {
		if e.Kind == refused {
			seconds += e.Late
		}
	}
	return seconds
}

// short drops digits beyond what a reader needs.
func short(v float64) string { return fmt.Sprintf("%.4g", v) }

// describe is an event in words; empty when it is not worth a line.
func describe(e event) string {
	switch {
	case e.Kind == leads:
		return fmt.Sprintf("leads, token %d", e.Token)
	case e.Kind == wrote && e.Number <= 3:
		return fmt.Sprintf("wrote entry %d", e.Number)
	case e.Kind == refused:
		return fmt.Sprintf("entry %d was refused %.1f s after its lease: %s", e.Number, e.Late, e.Text)
	case e.Kind == termEnded:
		return "stopped leading"
	default:
		return ""
	}
}
