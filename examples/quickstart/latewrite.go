package main

import (
	"context"
	"fmt"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// lateWrite follows the write of a leader that is suspended before it.
type lateWrite struct {
	token    float64 // of the leader's term
	refusals float64 // of the store, before
}

// beforeLateWrite waits until the store knows the leader's term.
func (d *demo) beforeLateWrite(ctx context.Context, leader string) (w lateWrite, err error) {
	err = until(ctx, "a write of the leader", patience, func() (bool, error) {
		tokens, err := d.value(ctx, catalog.FencingToken, d.leader)
		if err != nil {
			return false, err
		}
		highest, err := d.highest(ctx)
		w.token = tokens[leader]
		return w.token > 0 && highest == w.token, err
	})
	if err != nil {
		return w, err
	}
	w.refusals, err = d.checks(ctx, catalog.FencingStale)
	return w, err
}

// ofNextTerm waits until the next leader has written.
func (w lateWrite) ofNextTerm(ctx context.Context, d *demo) error {
	return until(ctx, "a write of the next leader", patience, func() (bool, error) {
		highest, err := d.highest(ctx)
		return highest > w.token, err
	})
}

// refused waits until the store has refused the late write.
func (w lateWrite) refused(ctx context.Context, d *demo) ([]check, error) {
	var refusals float64
	err := until(ctx, "the store to refuse the late write", patience, func() (done bool, err error) {
		refusals, err = d.checks(ctx, catalog.FencingStale)
		return refusals > w.refusals, err
	})
	if err != nil {
		return nil, err
	}
	highest, err := d.highest(ctx)
	return []check{
		seen("the store refused its late write: token %.0f, the highest is %.0f", w.token, highest),
		{fmt.Sprintf("%s %.0f", refusedWrites, refusals), refusals == w.refusals+1},
		d.store.inOrder(),
	}, err
}

// refusedWrites is the series of writes that a store refused as stale.
var refusedWrites = fmt.Sprintf("%s{result=%q}", catalog.FencingChecks.Name(), catalog.FencingStale.String())

// checks is how many writes the store decided on in that way, as far as the
// last scrape knows.
func (d *demo) checks(ctx context.Context, result catalog.FencingResult) (float64, error) {
	return d.ofStore(ctx, fmt.Sprintf("%s{%s=%q,result=%q}", catalog.FencingChecks.Name(), lockLabel, d.leader, result.String()))
}

// highest is the highest token that the store has seen; 0 before the first.
func (d *demo) highest(ctx context.Context) (float64, error) {
	return d.ofStore(ctx, fmt.Sprintf("%s{%s=%q}", catalog.FencingHighestToken.Name(), lockLabel, d.leader))
}

func (d *demo) ofStore(ctx context.Context, query string) (float64, error) {
	values, err := d.observer.query(ctx, query)
	return values[storeName], err
}
