//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

const introduction = `Three candidates elect a leader on a Kubernetes Lease of %v, with client-go.
leader_active is the middleware's gauge, %s client-go's own.

`

// clientGo is the gauge that Kubernetes' component-base makes of client-go's
// hook.
const clientGo = "leader_election_master_status"

// play is the show; with keep the nodes go on until ctx ends.
func play(ctx context.Context, o options, out io.Writer, keep bool) (err error) {
	out = &lines{out: out}
	fmt.Fprintf(out, introduction, leaseDuration, clientGo)
	s, err := newStage(ctx, o, func(name string, e event) {
		if text := describe(e); text != "" {
			fmt.Fprintf(out, "%s  %s\n", name, text)
		}
	})
	defer func() {
		if closed := s.close(); err == nil {
			err = closed
		}
	}()
	if err != nil {
		return err
	}
	if err := s.story(ctx, out); err != nil {
		return err
	}
	if keep {
		fmt.Fprint(out, "\nThe nodes that are left go on until Ctrl-C:\n")
		for _, p := range s.nodes {
			if !p.gone() {
				fmt.Fprintf(out, "  %s\n", p.metrics)
			}
		}
		<-ctx.Done()
	}
	return nil
}

// story stops the leader gracefully, and kills the next.
func (s *stage) story(ctx context.Context, out io.Writer) error {
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		if _, err := s.start(ctx, name); err != nil {
			return err
		}
	}
	first, err := s.leader(ctx, nil)
	if err != nil {
		return err
	}
	if err := s.show(ctx, out); err != nil {
		return err
	}
	fmt.Fprintf(out, "        %s stops gracefully; its process goes on\n", first.name)
	if err := first.stop(ctx); err != nil {
		return err
	}
	second, err := s.leader(ctx, first)
	if err != nil {
		return err
	}
	if err := s.show(ctx, out); err != nil {
		return err
	}
	fmt.Fprintf(out, "        %s is killed (SIGKILL)\n", second.name)
	second.kill()
	if _, err := s.leader(ctx, second); err != nil {
		return err
	}
	return s.show(ctx, out)
}

// show prints what each node exposes, beside what it counted.
func (s *stage) show(ctx context.Context, out io.Writer) error {
	lease, err := s.lease(ctx)
	if err != nil {
		return fmt.Errorf("read the Lease: %w", err)
	}
	row := func(cells ...any) {
		fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%-8s%13v%32v%16v%22v", cells...), " "))
	}
	fmt.Fprintln(out)
	row("", catalog.Active.Name, clientGo, "bodies counted", catalog.FencingToken.Name)
	var ours, theirs, counted float64
	for _, p := range s.nodes {
		if p.gone() {
			row(p.name, "gone", "", "", "")
			continue
		}
		shown, err := scrape(ctx, p.metrics)
		if err != nil {
			return err
		}
		said := p.history()
		working := float64(said[len(said)-1].Count.Working)
		token := "-"
		if t, led := shown[catalog.FencingToken.Name]; led {
			token = fmt.Sprint(t)
		}
		row(p.name, shown.sum(catalog.Active.Name), shown.sum(clientGo), working, token)
		ours, theirs, counted = ours+shown.sum(catalog.Active.Name), theirs+shown.sum(clientGo), counted+working
	}
	row("sum", ours, theirs, counted, fmt.Sprintf("Lease: %d", *lease.Spec.LeaseTransitions))
	fmt.Fprintln(out)
	return nil
}

// lines lets the nodes' listeners and the show write one after another.
type lines struct {
	mu  sync.Mutex
	out io.Writer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(b)
}

// describe is an event in words; empty when it is not worth a line.
func describe(e event) string {
	switch e.Kind {
	case ready:
		return "is there, http://" + e.Text + "/metrics"
	case leads:
		return "leads"
	case over:
		return "leads no more"
	default:
		return ""
	}
}
