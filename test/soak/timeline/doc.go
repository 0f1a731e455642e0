// Package timeline compares what a candidate exported with what its backend
// recorded: pure arithmetic on instants, without clock, network or goroutine.
// Instants are durations since the start of a run, all on one clock. How they
// were measured, and how figures are printed, does not belong here.
package timeline
