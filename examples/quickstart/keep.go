package main

import (
	"context"
	"path/filepath"
)

// keep leaves the replicas running until ctx ends, and says how to look at
// them with a Prometheus of one's own.
func (d *demo) keep(ctx context.Context) {
	d.setPhase("Running until Ctrl-C")
	d.screen.say("Left running, until Ctrl-C:")
	d.sayAddresses()
	d.screen.say("  held lock %s, job lock %s", d.leader, d.job)
	d.screen.say("  rules      %s", d.rulesFile())
	d.screen.say("  prometheus --config.file=%s --storage.tsdb.path=$(mktemp -d)", d.prometheusFile())
	<-ctx.Done()
}

func (d *demo) prometheusFile() string { return filepath.Join(d.dir, "prometheus.yml") }

// sayFiles writes and names what a Prometheus of one's own needs to watch the
// faults.
func (d *demo) sayFiles() error {
	if err := writePrivate(d.prometheusFile(), []byte(prometheusYAML(d.rulesFile(), d.targetsFile()))); err != nil {
		return err
	}
	d.screen.say("  for a Prometheus of your own, until the demo ends:")
	d.screen.say("  targets    %s", d.targetsFile())
	d.screen.say("  rules      %s", d.rulesFile())
	d.screen.say("  config     %s", d.prometheusFile())
	return nil
}

// sayAddresses prints where each replica, and the store, shows what it knows.
func (d *demo) sayAddresses() {
	addresses := d.cluster.addresses()
	for _, name := range sortedNames(addresses) {
		d.screen.say("  %s  http://%s/status  and /metrics, /ready", name, addresses[name])
	}
	d.screen.say("  store      http://%s/metrics", d.store.address)
}
