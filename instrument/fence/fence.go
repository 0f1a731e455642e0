// Package fence is the store's side of fencing: a [Guard] in front of the data
// that a leader writes refuses writes of an older term. A leader that was
// suspended cannot know itself that its write is late.
//
//	guard := fence.New(m.Election("ledger", instrument.WatchOnly()))
//	err := guard.Do(ctx, token, func(ctx context.Context) error { return append(ctx, entry) })
//
// It protects only writes that pass through it in this process: a second path to
// the store, or a second process with its own guard, is not covered. A store that
// several processes write to needs the comparison in the store itself, as in
// packages sqlfence and etcdlock. Where tokens come from does not belong here.
package fence

import (
	"errors"
	"fmt"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

var (
	// ErrStale: the token is lower than the highest that the guard has seen.
	// The returned error is a [StaleError], which has both numbers.
	ErrStale = errors.New("leaderscope: fencing token is stale")
	// ErrMissing: the write carries no token.
	ErrMissing = errors.New("leaderscope: no fencing token; pass the token of the term with the write, for example by fence.WithToken")
)

// StaleError refuses a write. It matches ErrStale.
type StaleError struct {
	// Token is that of the write, Highest is the highest that the guard has
	// seen.
	Token, Highest uint64
}

// Error names both numbers.
func (e *StaleError) Error() string {
	return fmt.Sprintf("leaderscope: fencing token %d is stale, the store has seen %d; stop the work of this term and campaign again", e.Token, e.Highest)
}

// Is reports whether target is ErrStale.
func (e *StaleError) Is(target error) bool { return target == ErrStale }

// Compare compares a token with the highest that a store has seen, with or
// without this one, and records the decision for e. It is for guards that store
// the highest token elsewhere; a nil e records nothing.
func Compare(e *instrument.Election, token, highest uint64) error {
	check := instrument.FencingCheck{Result: catalog.FencingAdmitted, Highest: max(token, highest), Seen: true}
	var err error
	if token < highest {
		check.Result, err = catalog.FencingStale, &StaleError{token, highest}
	}
	e.ObserveFencing(check)
	return err
}

// Missing records a write without a token for e and returns ErrMissing.
func Missing(e *instrument.Election) error {
	e.ObserveFencing(instrument.FencingCheck{Result: catalog.FencingMissing})
	return ErrMissing
}
