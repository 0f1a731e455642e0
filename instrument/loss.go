package instrument

// lossError is ErrLost with the library's reason. It unwraps to both, and its
// text leaves the reason out: what a library says may carry the lock's name,
// and causes of contexts end up in logs.
type lossError struct{ cause error }

func (e *lossError) Error() string { return ErrLost.Error() }

func (e *lossError) Unwrap() []error { return []error{ErrLost, e.cause} }

// GoString keeps %#v from walking into the cause.
func (e *lossError) GoString() string { return ErrLost.Error() }
