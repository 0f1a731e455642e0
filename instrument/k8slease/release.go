package k8slease

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// releasing is a release while the elector carries it out. It takes one request
// or several: client-go asks again after a conflict (from v0.37 on), and only
// the last answer counts.
type releasing struct {
	result  chan error
	counted chan struct{}
	latest  error // the answer of a request that may be repeated
}

// giveBack ends the term before the server is told. Term.Release counts when
// its function returns, and the elector does not wait: so a function that waits
// for the last answer stands in for the requests, in a goroutine of its own.
func (l *lease) giveBack(ctx context.Context) *releasing {
	r := &releasing{result: make(chan error), counted: make(chan struct{})}
	told := make(chan struct{})
	l.release = func(context.Context) error {
		close(told)
		return <-r.result
	}
	go func() {
		defer close(r.counted)
		_ = l.term.Release(ctx)
	}()
	<-told
	return r
}

func (r *releasing) finish(err error) {
	r.result <- err
	<-r.counted
}

// getToRelease is the Get by which the elector begins or repeats a release.
// client-go releases without a look at whose the lease is by then.
func (l *ResourceLock) getToRelease(ctx context.Context, held *lease) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.readRecord(ctx)
	switch {
	case err == nil && record.HolderIdentity == l.Identity():
	case err == nil:
		l.notOurs(held, errTaken)
	case apierrors.IsNotFound(err):
		l.notOurs(held, errDeleted)
	default: // client-go leaves it at that
		l.releaseBegins(ctx, held).finish(err)
	}
	return record, raw, err
}

// notOurs ends what is known of a lease that its holder was about to release.
func (l *ResourceLock) notOurs(held *lease, cause error) {
	r := l.takeReleasing()
	l.gone(held)
	if r != nil {
		r.finish(cause)
	}
	held.lost(cause)
}

// release is a request that releases.
func (l *ResourceLock) release(ctx context.Context, held *lease, record resourcelock.LeaderElectionRecord, write writer) (err error) {
	r := l.releaseBegins(ctx, held)
	err = errPanicked
	defer func() {
		if apierrors.IsConflict(err) {
			l.mayRepeat(r, err)
			return
		}
		if err == nil {
			l.gone(held)
			l.freed(record)
		}
		r.finish(err)
	}()
	return write(ctx, record)
}

// releaseBegins returns the release that a conflict left open, or another.
func (l *ResourceLock) releaseBegins(ctx context.Context, held *lease) *releasing {
	l.ends(held)
	if r := l.takeReleasing(); r != nil {
		return r
	}
	return held.giveBack(ctx)
}

func (l *ResourceLock) mayRepeat(r *releasing, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.latest, l.releasing = err, r
}

func (l *ResourceLock) takeReleasing() *releasing {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.releasing
	l.releasing = nil
	return r
}
