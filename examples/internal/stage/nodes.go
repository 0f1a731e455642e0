//go:build unix

package stage

import (
	"context"
	"fmt"
)

// Nodes are those of a show.
type Nodes []*Node

// Start starts nodes of these names, with the arguments that args has for
// each, and prints what they say.
func (all *Nodes) Start(ctx context.Context, args func(name string) []string, names ...string) error {
	for _, name := range names {
		n, err := Start(ctx, name, func(line string) { fmt.Printf("  %s: %s\n", name, line) }, args(name)...)
		if err != nil {
			return err
		}
		*all = append(*all, n)
	}
	return nil
}

// Kill ends all of them at once.
func (all Nodes) Kill() {
	for _, n := range all {
		n.Kill()
	}
}

// Settle ends the work of all of them, then the nodes, and returns where what
// one exports is not what it counted itself, lock by lock.
func (all Nodes) Settle(ctx context.Context) (wrong []string, err error) {
	for _, n := range all {
		var counts map[string]Count
		if err := n.Drain(ctx, &counts); err != nil {
			return nil, err
		}
		m, err := n.Metrics(ctx)
		if err != nil {
			return nil, err
		}
		wrong = append(wrong, Disagreements(m, counts)...)
		if err := n.Stop(); err != nil {
			return nil, fmt.Errorf("%s: %w", n.Name, err)
		}
	}
	return wrong, nil
}
