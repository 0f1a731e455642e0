package dashboards

// Overview is the dashboard "Leader election / Overview" as JSON in Grafana's
// classic schema: which replica leads, which locks have no leader, how attempts end,
// and how close work came to the end of its lease. The same configuration always
// gives the same bytes. The error is a [*KeyError] if the configuration is invalid.
// Overview is safe for concurrent use.
func Overview(cfg Config) ([]byte, error) {
	q, err := newQueries(cfg)
	if err != nil {
		return nil, err
	}
	description := "Leader election and distributed locks: which replica leads, which locks have no leader, how attempts end, " +
		"and how close work came to the end of its lease."
	if cfg.Recording {
		description += " Panels read recorded series: without the recording rules of the same configuration they are empty."
	}
	return q.build(
		page{
			Identity: Identity{cfg.UID, cfg.Title}, annotations: q.annotations(), others: []Identity{cfg.Lock, cfg.Backends},
			description: description,
		},
		q.now(),
		q.leadership(),
		q.acquisition(),
		q.leases(),
		q.work(),
		q.instrumentation(),
	)
}
