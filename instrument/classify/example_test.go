package classify_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/classify"
)

// A library that this package does not know, with two sentinels.
func Example() {
	errLocked, errClosed := errors.New("locked"), errors.New("client is closed")
	m, err := instrument.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	reports := m.Election("reports", instrument.Classify(
		classify.ContendedIs(errLocked),
		classify.SessionLostIs(errClosed),
	))
	_, err = reports.Acquire(context.Background(), instrument.AcquirerFunc(func(context.Context) (instrument.Lease, error) {
		return nil, errLocked // what the library answered
	}))
	fmt.Println(err)
	m.Collect(func(s *instrument.Sample) {
		if s.Metric.Name() == "leader_not_acquired_total" && s.Value > 0 {
			fmt.Println(s.Lock, s.Values[0], s.Value)
		}
	})
	// Output:
	// locked
	// reports contended 1
}
