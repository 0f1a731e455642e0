package riverlead

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/classify"
	"github.com/leaderscope/leaderscope/instrument/poll"
)

// follower follows the leadership of one client.
type follower struct {
	options
	e          *instrument.Election
	database   riverdriver.Executor
	id, schema string

	row riverdriver.Leader // of the last poll that saw a client lead
	end time.Time          // of the lease in row
}

func (f *follower) pollRow(ctx context.Context) poll.Outcome {
	asked := time.Now()
	row, remaining, err := f.read(ctx)
	took := time.Since(asked)
	if err != nil {
		f.witnessFailure(ctx)
		return poll.Unknown(err)
	}
	before := f.row
	if row.LeaderID != "" {
		f.end = f.endOf(row, remaining, asked, took)
		f.row = row
	}
	f.witness(row)
	switch {
	case row.LeaderID != f.id || remaining <= 0:
		return poll.NotLeading(nil)
	case !before.ElectedAt.Equal(row.ElectedAt):
		f.e.ObserveNotLeading(nil) // it may have led before, in another term
	}
	return poll.Leading(instrument.Leadership{Expiry: f.end, Asked: asked, Granted: f.lease})
}

// witness reports the row, whichever client it names.
func (f *follower) witness(row riverdriver.Leader) {
	view := instrument.BackendView{State: instrument.BackendVacant, Every: f.every, ValidFor: f.validFor()}
	if row.LeaderID != "" {
		view.State, view.Holder, view.Expiry, view.Granted = instrument.BackendHeld, row.LeaderID, f.end, f.lease
	}
	f.e.ObserveBackend(view)
}

// witnessFailure reports that the row could not be read; a poll that the end of
// ctx ended says nothing about the server.
func (f *follower) witnessFailure(ctx context.Context) {
	if !errors.Is(ctx.Err(), context.Canceled) {
		f.e.ObserveBackend(instrument.BackendView{Every: f.every, ValidFor: f.validFor()})
	}
}

// validFor is how long a row is valid: longer, and the polls have stopped.
func (f *follower) validFor() time.Duration { return max(f.lease, 2*f.every) }

// endOf is the end of the lease, too early by at most the time that a poll
// took. A row that did not change has the end that was computed first, unless
// the database's clock has jumped ahead meanwhile: what a poll takes is no
// renewal.
func (f *follower) endOf(row riverdriver.Leader, remaining time.Duration, asked time.Time, took time.Duration) time.Time {
	end := asked.Add(remaining)
	if row.ExpiresAt.Equal(f.row.ExpiresAt) && !end.Before(f.end.Add(-took-time.Second)) {
		return f.end
	}
	return end
}

// lastLook tells how the last term of a client ended that has stopped: one that
// could not resign leaves its row behind.
func (f *follower) lastLook(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, f.every)
	defer cancel()
	row, _, err := f.read(ctx)
	cause := instrument.ErrReleased
	if err != nil || row.LeaderID == f.id {
		cause = context.Canceled
	}
	f.e.ObserveNotLeading(cause)
}

// read returns River's row and how long its lease runs, on the clock that wrote
// it; the zero row when no client leads.
func (f *follower) read(ctx context.Context) (row riverdriver.Leader, remaining time.Duration, err error) {
	var now time.Time
	if err := f.database.QueryRow(ctx, "SELECT now()").Scan(&now); err != nil {
		return row, 0, failed(err)
	}
	leader, err := f.database.LeaderGetElectedLeader(ctx, &riverdriver.LeaderGetElectedLeaderParams{Schema: f.schema})
	if errors.Is(err, rivertype.ErrNotFound) {
		leader, err = &riverdriver.Leader{}, nil
	}
	if err != nil {
		return row, 0, failed(err)
	}
	return *leader, leader.ExpiresAt.Sub(now), nil
}

// failed names the reason of a poll that failed: a poll that takes longer than
// the interval shows a server that does not answer.
func failed(err error) error {
	reason, ok := classify.SQLState().Classify(err)
	if ok && reason == instrument.BackendError || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("leaderscope: river: read river_leader: %w: %w", instrument.ErrBackend, err)
	}
	return fmt.Errorf("leaderscope: river: read river_leader: %w", err)
}
