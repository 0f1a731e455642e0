package main

import (
	"context"
	"path/filepath"
)

// keep leaves the replicas running until ctx ends, and says how to look at
// them with a Prometheus of one's own.
func (d *demo) keep(ctx context.Context) {
	addresses := d.cluster.addresses()
	file := filepath.Join(d.dir, "prometheus.yml")
	if err := writePrivate(file, []byte(prometheusYAML(d.rulesFile(), addresses, d.observer.others))); err != nil {
		d.screen.say("  ! %v", err)
	}
	d.setPhase("Running until Ctrl-C")
	d.screen.say("Left running, until Ctrl-C:")
	d.sayAddresses()
	d.screen.say("  held lock %s, job lock %s", d.leader, d.job)
	d.screen.say("  rules      %s", d.rulesFile())
	d.screen.say("  prometheus --config.file=%s --storage.tsdb.path=$(mktemp -d)", file)
	<-ctx.Done()
}

// sayAddresses prints where each replica, and the store, shows what it knows.
func (d *demo) sayAddresses() {
	addresses := d.cluster.addresses()
	for _, name := range sortedNames(addresses) {
		d.screen.say("  %s  http://%s/status  and /metrics, /ready", name, addresses[name])
	}
	d.screen.say("  store      http://%s/metrics", d.store.address)
}
