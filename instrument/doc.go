// Package instrument makes a leader election or a distributed lock
// observable. It wraps the elector that a service already has and keeps the
// state from which exporters read: attempts, terms, leases, guarded work.
//
// The wrapped elector's behaviour, errors and panics pass through untouched.
// Nothing here decides an election, calls the elector at collection, or knows
// how its numbers travel; exporters import this package, never the reverse.
package instrument
