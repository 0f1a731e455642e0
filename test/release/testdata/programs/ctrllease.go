package main

import (
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/ctrllease"
)

func main() {}

func manager(e *instrument.Election, config *rest.Config, options ctrl.Options) (ctrl.Manager, error) {
	return LINE
}
