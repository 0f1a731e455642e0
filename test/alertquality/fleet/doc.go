// Package fleet simulates services that elect a leader, for weeks of virtual
// time: replicas with the real middleware and a clock of their own, a backend,
// faults at configured rates, and the servers that scrape it all. What it
// returns is what Prometheus would have stored, and beside it what was true.
// The truth comes from the world: which process held which lease, from when to when. It
// judges no rule.
package fleet
