package rueidislock_test

import (
	"context"
	"fmt"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/classify"
	"github.com/leaderscope/leaderscope/instrument/rueidislock"
)

// A job under a lock of rueidislock. In a program the two packages have one
// name, so one of them is imported under another.
func Example() {
	m, err := instrument.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	report := m.Election("report", instrument.HiddenRenewals(), instrument.Backend("redis"),
		instrument.Classify(classify.Rueidislock(errNotLocked, nil))) // of a program: rueidislock.ErrNotLocked, rueidislock.ErrLockerClosed
	lock := rueidislock.New(free, "report") // of a program: locker.TryWithContext
	err = report.Run(context.Background(), lock, func(_ context.Context, term *instrument.Term) error {
		fmt.Println(term, "runs here")
		return nil
	})
	if err != nil {
		fmt.Println("not this time:", err)
	}
	// Output: report runs here
}
