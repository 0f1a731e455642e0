// Package lock is what is known of one lock, as a pure state machine: events
// with instants go in, facts come out. Whether a term is over, overran its
// lease, was superseded, or let work continue too late is decided here and
// nowhere else.
//
// It starts no goroutine and reads no clock; the caller holds the mutex of the
// lock for every call, except where a method says that it is atomic. Labels,
// contexts, logs and calls of the elector do not belong here.
package lock
