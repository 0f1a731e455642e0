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
	const lease = 300 * time.Millisecond
	electtest.CampaignConformance(t, electtest.CampaignSuite{
		Run: func(ctx context.Context, _ testing.TB, lock string, e *instrument.Election) error {
			a := server.Acquirer(lock, lease, true)
			for ctx.Err() == nil {
				_ = e.Run(ctx, a, func(ctx context.Context, _ *instrument.Term) error {
					<-ctx.Done()
					return nil
				})
			}
			return nil
		},
		Options: []instrument.ElectionOption{instrument.Hold()},
		Lease:   lease, Fenced: true, Works: true,
		Lose: func(_ testing.TB, lock string) { server.Drop(lock) },
	})
}
