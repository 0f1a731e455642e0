package main

import (
	"context"

	"k8s.io/client-go/tools/leaderelection"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/k8slease"
)

func main() {}

func lead(ctx context.Context, e *instrument.Election, config leaderelection.LeaderElectionConfig) {
	LINE
}
