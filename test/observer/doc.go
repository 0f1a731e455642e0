// Package observer runs leader-observer as its users do, beside real servers, and
// compares what it exports with a referee's record of what happened.
package observer
