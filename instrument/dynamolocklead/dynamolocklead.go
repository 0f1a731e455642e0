package dynamolocklead

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"cirello.io/dynamolock/v2"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/internal/keeper"
)

// NewLock waits for the lock until its context ends. The client polls once a
// second, or as dynamolock.WithRefreshPeriod says. After a crash of the holder, a
// waiting attempt wins a lease after the holder's last heartbeat.
//
// lease must equal the client's dynamolock.WithLeaseDuration; Acquire fails if it
// differs. Create the client with dynamolock.DisableHeartbeat().
//
// With dynamolock.WithAdditionalTimeToWaitForLock it stops after a lease and
// that time, which counts as contended.
func NewLock(client *dynamolock.Client, key string, lease time.Duration, opts ...dynamolock.AcquireLockOption) instrument.Acquirer {
	forever := dynamolock.WithAdditionalTimeToWaitForLock(century)
	return &locker{client: client, key: key, lease: lease, opts: append([]dynamolock.AcquireLockOption{forever}, opts...)}
}

// century is forever, and leaves room for a lease in a time.Duration.
const century = 100 * 365 * 24 * time.Hour

// NewTryLock answers at once, with a *dynamolock.LockNotGrantedError if another
// holder has the lock. See NewLock for lease and client.
//
// With a single read the library cannot detect a crashed holder, and would never
// take its lock over. Therefore an attempt by an Acquirer that has been refused
// for a whole lease watches the lock for another lease, and takes it over from a
// holder that sent no heartbeat. While the holder is alive, such attempts become
// less and less frequent, down to one in 16 leases; they are refused, also if the
// lock becomes free meanwhile. Keep one Acquirer for all attempts.
func NewTryLock(client *dynamolock.Client, key string, lease time.Duration, opts ...dynamolock.AcquireLockOption) instrument.Acquirer {
	return &locker{client: client, key: key, lease: lease, opts: opts, tries: true}
}

type locker struct {
	client   *dynamolock.Client
	key      string
	lease    time.Duration
	opts     []dynamolock.AcquireLockOption
	tries    bool
	refusals refusals
}

// Format writes what it is for every verb, and keeps the name of the lock from
// code that prints it.
func (*locker) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "dynamolock lock") }

// Acquire takes the lock. Its lease has no token: the record version is random.
func (l *locker) Acquire(ctx context.Context) (instrument.Lease, error) {
	if err := keeper.CheckLease("dynamolock", l.client, l.lease); err != nil {
		return nil, err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	asked := time.Now()
	lock, err := l.take(ctx)
	if err != nil {
		return nil, err
	}
	lease, err := keeper.Hold(ctx, &holding{l: l, lock: lock}, asked, l.lease)
	if err != nil {
		return nil, fmt.Errorf("leaderscope: dynamolock: heartbeat after the lock was won: %w", err)
	}
	return lease, nil
}

// Classify names the reason of an error. A deadline is the caller's, which the
// caller's context tells, or that of a server that does not answer.
func (*locker) Classify(err error) (instrument.Reason, bool) {
	if refused(err) {
		return instrument.ContendedUnlessDone, true
	}
	if _, other := errors.AsType[*types.ConditionalCheckFailedException](err); other || gone(err) {
		return instrument.SessionLost, true
	}
	if fromServer(err) || errors.Is(err, context.DeadlineExceeded) {
		return instrument.BackendError, true
	}
	return 0, false
}

func refused(err error) bool {
	_, ok := errors.AsType[*dynamolock.LockNotGrantedError](err)
	return ok
}

func gone(err error) bool {
	return errors.Is(err, dynamolock.ErrLockAlreadyReleased) || errors.Is(err, dynamolock.ErrOwnerMismatched) || errors.Is(err, dynamolock.ErrClientClosed)
}

// fromServer reports answers of DynamoDB that say that it failed or is short of
// capacity.
func fromServer(err error) bool {
	answer, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return false
	}
	switch answer.ErrorCode() {
	case "ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException":
		return true
	}
	return answer.ErrorFault() == smithy.FaultServer
}
