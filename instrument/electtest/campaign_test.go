package electtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestACampaignOnTheServerInMemoryConforms(t *testing.T) {
	server := electtest.NewMemory()
	const lease = 9 * time.Second
	electtest.CampaignConformance(t, electtest.CampaignSuite{
		Run: func(ctx context.Context, _ testing.TB, lock string, e *instrument.Election, work func(context.Context)) error {
			a := server.Acquirer(lock, lease, true)
			for ctx.Err() == nil {
				_ = e.Run(ctx, a, func(ctx context.Context, _ *instrument.Term) error {
					work(ctx)
					return nil
				})
			}
			return nil
		},
		Options: []instrument.ElectionOption{instrument.Hold()},
		Lease:   lease, VirtualTime: true, Fenced: true, Works: true,
		Lose:      func(_ testing.TB, lock string) { server.Drop(lock) },
		Remaining: func(_ testing.TB, lock string) (time.Duration, bool) { return server.Remaining(lock) },
	})
}
