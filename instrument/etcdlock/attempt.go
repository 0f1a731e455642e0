package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/client/v3/concurrency"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/leaderscope/leaderscope/instrument"
)

// campaignAgainAfter is the time between two campaigns of one attempt, of
// which the first was cut off from what it waited for.
const campaignAgainAfter = 100 * time.Millisecond

// win waits for c and for as long as the session lives. A campaign outlives
// its session: it stays in the queue without a key, and returns success when
// the leader's key goes (etcd-io/etcd#22387). That is not a win.
func win(ctx context.Context, s *concurrency.Session, c candidate) error {
	if ended(s) {
		return fmt.Errorf("etcdlock: %w", instrument.ErrSessionLost)
	}
	waiting, cancel := during(ctx, s)
	defer cancel()

	err := campaign(waiting, c)
	switch {
	case err == nil && !ended(s):
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("etcdlock: %w", context.Cause(ctx))
	case ended(s):
		return fmt.Errorf("etcdlock: %w", instrument.ErrSessionLost)
	default:
		return fmt.Errorf("etcdlock: %w", err)
	}
}

// campaign campaigns again when c waits and was cut off from its watch: by a
// connection that broke, or by a compaction meanwhile. A session that lives
// shows that the backend is there. The key of c keeps its place in the queue,
// but for that of a mutex, which goes to the end.
func campaign(ctx context.Context, c candidate) error {
	for {
		err := c.acquire(ctx)
		if err == nil || !c.waits() || !passing(err) {
			return err
		}
		if !sleepUntil(ctx, time.Now().Add(campaignAgainAfter)) {
			return ctx.Err()
		}
	}
}

// passing reports errors that another request need not meet. The package
// concurrency has one without a type or a name, for a watch that was lost.
func passing(err error) bool {
	if errors.Is(err, rpctypes.ErrCompacted) {
		return true
	}
	for _, lasting := range []error{concurrency.ErrLocked, concurrency.ErrSessionExpired, concurrency.ErrElectionNotLeader, instrument.ErrSessionLost} {
		if errors.Is(err, lasting) {
			return false
		}
	}
	code, answered := codeOf(err)
	return !answered || code == codes.Unavailable || code == codes.DeadlineExceeded
}

// codeOf is the code of an error that the server answered, or gRPC for it.
func codeOf(err error) (code codes.Code, ok bool) {
	if known, ok := errors.AsType[rpctypes.EtcdError](err); ok {
		return known.Code(), true
	}
	var answer interface{ GRPCStatus() *status.Status }
	if errors.As(err, &answer) {
		return answer.GRPCStatus().Code(), true
	}
	return codes.OK, false
}

func ended(s *concurrency.Session) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}

// during is a context that ends with the session, too.
func during(ctx context.Context, s *concurrency.Session) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-s.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
