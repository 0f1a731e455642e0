package libraries

import (
	"context"

	"github.com/leaderscope/leaderscope/instrument/runnable"
)

// What fits by its shape alone.
var (

	// controller-runtime's manager.Runnable and manager.LeaderElectionRunnable,
	// written out: their module would bring five hundred packages.
	_ interface {
		Start(context.Context) error
		NeedLeaderElection() bool
	} = (*runnable.Runnable)(nil)
)
