// Package instrument makes a leader election or a distributed lock
// observable. It wraps the elector that a service already has and keeps the
// state that exporters read: attempts, terms, leases, guarded work.
//
//	m, err := instrument.New()
//	_, err = prom.Register(prometheus.DefaultRegisterer, m)
//	election := m.Election("reconciler", instrument.Hold())
//	err = election.Run(ctx, elector, work)
//
// The wrapped elector's behaviour, errors and panics pass through unchanged.
// This package decides no election, does not call the elector during collection,
// and does not know how metrics are exported; exporters import this package,
// never the reverse.
package instrument
