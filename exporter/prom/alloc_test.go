package prom_test

import (
	"context"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
)

type lease struct{}

func (lease) Release(context.Context) error { return nil }

func TestACycleAllocatesTheTermAndNothingElse(t *testing.T) {
	m, _ := newRegistry(t, instrument.WithRedactor(hashed(t)))
	e := m.Election("tenant-42/orders", instrument.LeaseDuration(time.Minute))
	ctx := context.Background()
	won := instrument.AcquirerFunc(func(context.Context) (instrument.Lease, error) { return lease{}, nil })
	refused := instrument.AcquirerFunc(func(context.Context) (instrument.Lease, error) { return nil, instrument.ErrContended })
	for name, c := range map[string]struct {
		cycle func()
		want  float64
	}{
		"acquire and release": {func() {
			term, err := e.Acquire(ctx, won)
			if err != nil || term.Release(ctx) != nil {
				t.Fatal(err)
			}
		}, 1},
		"an attempt that does not win": {func() { _, _ = e.Acquire(ctx, refused) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := testing.AllocsPerRun(1000, c.cycle); got > c.want {
				t.Errorf("%v allocations, want %v", got, c.want)
			}
		})
	}
}
