package ctrllease

import (
	"context"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// The manager keeps the recorder of its election's events to itself, and stops
// it when the elector has stopped, unless the election has a configuration of
// its own. A cluster has a recorder of the same make, and stops it at the end of
// Start.

// newRecorders makes a cluster of which nothing but the recorders is used. It
// makes no request before the first event.
func newRecorders(config *rest.Config, options manager.Options) (cluster.Cluster, error) {
	return cluster.New(config, func(o *cluster.Options) {
		if o.Logger = options.Logger; o.Logger.GetSink() == nil {
			o.Logger = log.Log // the manager's default
		}
		//lint:ignore SA1019 as the manager does
		o.EventBroadcaster = options.EventBroadcaster
	})
}

// recorded is a resource lock whose recorder ends with its elector.
type recorded struct {
	resourcelock.Interface
	recorders cluster.Cluster
}

// RecordEvent passes the event on. The last one of an elector is the one that
// it has stopped leading; one that never led records none.
func (r recorded) RecordEvent(event string) {
	r.Interface.RecordEvent(event)
	if event == "stopped leading" {
		r.stop()
	}
}

// stop does not wait for the events that are on their way, as the manager does
// not when its shutdown is complete.
func (r recorded) stop() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = r.recorders.Start(ctx) // the error would be that of a cache which is not used
}
