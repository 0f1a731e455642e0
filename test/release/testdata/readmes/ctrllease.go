package main

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/ctrllease"
)

func main() {}

func readme(ctx context.Context, registry prometheus.Registerer, config *rest.Config, options ctrl.Options) error {
	SNIPPET
	_ = mgr
	return err
}
