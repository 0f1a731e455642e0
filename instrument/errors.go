package instrument

import "errors"

// Sentinels that an adapter may return or wrap, so that no classifier is
// needed.
var (
	// ErrContended: another holder has the lock. From Renew it means that the lock
	// is lost, from Release that this process no longer held it.
	ErrContended = errors.New("leaderscope: lock is held by another holder")
	// ErrAlreadyHeld: this caller already holds the lock.
	ErrAlreadyHeld = errors.New("leaderscope: lock is already held by this caller")
	// ErrSessionLost: the session behind the attempt or the lease has ended.
	ErrSessionLost = errors.New("leaderscope: session has ended")
	// ErrBackend: the backend is unreachable or failed.
	ErrBackend = errors.New("leaderscope: backend failed")
	// ErrGaveUp: the elector stopped trying to renew, although the lease may not
	// have expired. It is a cause for Sink.Lost.
	ErrGaveUp = errors.New("leaderscope: elector gave up renewing the lease")
	// ErrUnknown: the elector does not know why it did not win.
	ErrUnknown = errors.New("leaderscope: elector did not win and cannot say why")
)

// Errors of this package.
var (
	// ErrNoLease: the acquirer returned neither a lease nor an error.
	ErrNoLease = errors.New("leaderscope: acquirer returned neither a lease nor an error")
	// ErrLost is the cause of a term's context when the lock was lost. From
	// Renew it means the same as ErrSessionLost.
	ErrLost = errors.New("leaderscope: term lost")
	// ErrReleased is the cause of a term's context when the lock was released,
	// from just before the request to the backend.
	ErrReleased = errors.New("leaderscope: term released")
	// ErrLeaseEnded is the cause of a term's context when its lease has ended
	// under StopAtLeaseEnd.
	ErrLeaseEnded = errors.New("leaderscope: lease ended")
)

// lossError is ErrLost with the library's reason. It unwraps to both, and its
// text leaves the reason out: what a library says may carry the lock's name,
// and causes of contexts end up in logs.
type lossError struct{ cause error }

func (e *lossError) Error() string { return ErrLost.Error() }

func (e *lossError) Unwrap() []error { return []error{ErrLost, e.cause} }

// GoString keeps %#v from walking into the cause.
func (e *lossError) GoString() string { return ErrLost.Error() }
