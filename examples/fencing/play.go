//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"syscall"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

const introduction = `Two nodes write one ledger; a lease of %v says whose turn it is. The writer is
suspended just before a write. The ledger is a store that checks tokens.

`

// play is the show; with keep the nodes go on until ctx ends.
func play(ctx context.Context, out io.Writer, keep bool) (err error) {
	out = &lines{out: out}
	fmt.Fprintf(out, introduction, lease)
	s, err := newStage(func(name string, e event) {
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
	paused, other, err := s.suspendAndResume(ctx, func(text string) { fmt.Fprintf(out, "        %s\n", text) })
	if err != nil {
		return err
	}
	if err := s.report(ctx, out, paused, other); err != nil {
		return err
	}
	if keep {
		fmt.Fprintf(out, "\nThe nodes go on until Ctrl-C:\n  %s\n  %s\n", paused.metrics, other.metrics)
		<-ctx.Done()
	}
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

// suspendAndResume is the story: it returns the node that was suspended, and
// the one that took over, when the former has given up.
func (s *stage) suspendAndResume(ctx context.Context, say func(string)) (paused, other *process, err error) {
	if paused, err = s.start(ctx, "node-1"); err != nil {
		return nil, nil, err
	}
	if _, err = paused.await(ctx, "its second entry", entry2); err != nil {
		return nil, nil, err
	}
	if other, err = s.start(ctx, "node-2"); err != nil {
		return nil, nil, err
	}
	if err = paused.order(orderHold); err != nil {
		return nil, nil, err
	}
	if _, err = paused.await(ctx, "its next write", of(between)); err != nil {
		return nil, nil, err
	}
	say("node-1 is suspended: it has looked at its term, and not yet written")
	if err = paused.signal(syscall.SIGSTOP); err != nil {
		return nil, nil, err
	}
	if _, err = other.await(ctx, "its second entry", entry2); err != nil {
		return nil, nil, err
	}
	say("node-1 goes on")
	if err = paused.order(orderGo); err != nil {
		return nil, nil, err
	}
	if err = paused.signal(syscall.SIGCONT); err != nil {
		return nil, nil, err
	}
	_, err = paused.await(ctx, "the end of its term", of(over))
	return paused, other, err
}

func entry2(e event) bool { return e.Kind == wrote && e.Number == 2 }

// report prints what the two nodes expose, beside what they counted.
func (s *stage) report(ctx context.Context, out io.Writer, paused, other *process) error {
	entries, err := s.ledger.read(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nThe ledger has %d entries, %d of them out of turn.\n\n", len(entries), violations(entries))
	fmt.Fprintf(out, "%-40s %21s %21s\n", "", paused.name, other.name)
	fmt.Fprintf(out, "%-40s %21s %21s\n", "", "metric (counted)", "metric (counted)")
	var cells [2][]string
	for i, p := range []*process{paused, other} {
		shown, err := scrape(ctx, p.metrics)
		if err != nil {
			return err
		}
		said, _ := p.history()
		for _, row := range rows {
			cell := fmt.Sprint(short(shown.sum(row.metric)))
			if row.counted != nil {
				cell += fmt.Sprintf(" (%v)", short(row.counted(said)))
			}
			cells[i] = append(cells[i], cell)
		}
	}
	for i, row := range rows {
		fmt.Fprintf(out, "%-40s %21s %21s\n", row.metric.Name, cells[0][i], cells[1][i])
	}
	return nil
}

// rows are what the show is about; counted is nil where a node has nothing to
// count.
var rows = []struct {
	metric  *catalog.Metric
	counted func([]event) float64
}{
	{catalog.Acquired, func(said []event) float64 { return float64(last(said).Count.Terms) }},
	{catalog.FencingToken, token},
	{catalog.Active, nil},
	{catalog.Running, nil},
	{catalog.TermsEnded, func(said []event) float64 { return float64(number(said, over)) }},
	{catalog.LeaseOverruns, func(said []event) float64 { return float64(number(said, refused)) }},
	{catalog.ExecutionFailures, func(said []event) float64 { return float64(last(said).Count.Refused) }},
	{catalog.WorkAfterLoss, late},
	{catalog.FencingTokenRegressions, nil},
}

func last(said []event) event { return said[len(said)-1] }

func number(said []event, kind string) (n int) {
	for _, e := range said {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// token is that of the node's last term.
func token(said []event) (t float64) {
	for _, e := range said {
		if e.Kind == leads {
			t = float64(e.Token)
		}
	}
	return t
}

// late is how long after its lease the node's refused writes came, in all.
func late(said []event) (seconds float64) {
	for _, e := range said {
		if e.Kind == refused {
			seconds += e.Late
		}
	}
	return seconds
}

// short drops the digits that nobody reads.
func short(v float64) string { return fmt.Sprintf("%.4g", v) }

// describe is an event in words; empty when it is not worth a line.
func describe(e event) string {
	switch e.Kind {
	case ready:
		return "is there, http://" + e.Text + "/metrics"
	case leads:
		return fmt.Sprintf("leads, token %d", e.Token)
	case wrote:
		if e.Number > 3 {
			return ""
		}
		return fmt.Sprintf("wrote entry %d", e.Number)
	case refused:
		return fmt.Sprintf("entry %d was refused %.1f s after its lease: %s", e.Number, e.Late, e.Text)
	case over:
		return "leads no more"
	default:
		return ""
	}
}
