package riverlead

import (
	"context"

	"github.com/riverqueue/river"

	"github.com/leaderscope/leaderscope/instrument"
)

// ObserveUntil is Observe for a client that has stopped when the channel is
// closed.
func ObserveUntil[TTx any](ctx context.Context, e *instrument.Election, client *river.Client[TTx], stopped <-chan struct{}, opts ...Option) error {
	return observe(ctx, e, client, stopped, opts)
}
