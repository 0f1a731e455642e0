package gocron_test

import (
	"context"
	"fmt"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/classify"
	"github.com/leaderscope/leaderscope/instrument/gocron"
	"github.com/leaderscope/leaderscope/redact"
)

// Jobs under a distributed locker. In a program the two packages have one name,
// so one of them is imported under another:
//
//	scheduler, err := gocron.NewScheduler(gocron.WithDistributedLocker(observed))
func Example() {
	m, err := instrument.New(instrument.WithRedactor(redact.Constant(redact.Template("report-{tenant}"))))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	election := func(key string) *instrument.Election {
		return m.Named(key, instrument.Backend("redis"), instrument.Classify(classify.ContendedIs(errHeld)))
	}
	observed := gocron.NewLocker(election, &locker{lock: &held{}}) // of a program: its own gocron.Locker
	ctx := context.Background()
	lock, err := observed.Lock(ctx, "report-7") // as the scheduler does
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(lock, "runs here")
	observed.Failed("report-7", errFailed) // by gocron.AfterJobRunsWithError
	if err := lock.Unlock(ctx); err != nil {
		fmt.Println(err)
	}
	// Output: report-* runs here
}

// A leader that runs all jobs:
//
//	scheduler, err := gocron.NewScheduler(gocron.WithDistributedElector(observed))
func ExampleNewElector() {
	m, err := instrument.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	scheduler := m.Election("scheduler", instrument.Hold(), instrument.HiddenRenewals())
	observed := gocron.NewElector(scheduler, follower{}, classify.BackendErrorIs(errDown)) // of a program: its own gocron.Elector
	if err := observed.IsLeader(context.Background()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(scheduler, "leads:", scheduler.Leading())
	// Output: scheduler leads: true
}
