package runnable_test

import (
	"context"
	"fmt"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/runnable"
)

// manager is controller-runtime's, as far as it matters here.
type manager struct{}

func (manager) Add(work interface{ Start(context.Context) error }) error {
	return work.Start(context.Background())
}

// Work of the leader: mgr.Add(leading.Runnable(reconcile)) instead of
// mgr.Add(manager.RunnableFunc(reconcile)).
func Example() {
	m, err := instrument.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	controller := m.Election("controller", instrument.Hold(), instrument.HiddenRenewals())
	reconcile := func(context.Context) error {
		fmt.Println("leads:", controller.Leading())
		return nil
	}
	var mgr manager
	leading := runnable.New(controller)
	if err := mgr.Add(leading.Runnable(reconcile)); err != nil {
		fmt.Println(err)
	}
	// Output: leads: true
}
