package gocronlead_test

import (
	"context"
	"log"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/gocronlead"
)

// Jobs that run on one of several replicas at a time, each under a lock of its
// own.
func Example() {
	locker := distributedLocker() // of a program: gocron's for Redis, or its own
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	m.Election("report", instrument.ExpectEvery(time.Hour)) // a readable label, and an alert when it is overdue

	scheduler, err := gocron.NewScheduler(gocronlead.WithLocker(m, locker))
	if err != nil {
		log.Fatal(err)
	}
	_, err = scheduler.NewJob(gocron.DurationJob(time.Hour), gocron.NewTask(writeReport), gocron.WithName("report"))
	if err != nil {
		log.Fatal(err)
	}
	scheduler.Start()
	defer scheduler.Shutdown()
	select {}
}

// Jobs that all run on the replica that leads.
func ExampleWithElector() {
	elector := distributedElector() // of a program: gocron's for etcd, or its own
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	leading := m.Election("scheduler", instrument.Hold(), instrument.HiddenRenewals())
	scheduler, err := gocron.NewScheduler(gocronlead.WithElector(leading, elector))
	if err != nil {
		log.Fatal(err)
	}
	scheduler.Start()
	defer scheduler.Shutdown()
	select {}
}

// A program with a monitor of its own, which WithLocker would replace.
func ExampleLocker() {
	var m *instrument.Middleware
	var own gocron.SchedulerMonitor
	jobs := gocronlead.Locker(m, distributedLocker())
	scheduler, err := gocron.NewScheduler(gocron.WithDistributedLocker(jobs), gocron.WithSchedulerMonitor(jobs.Monitor(own)))
	if err != nil {
		log.Fatal(err)
	}
	scheduler.Start()
}

func writeReport(context.Context) error  { return nil }
func distributedLocker() gocron.Locker   { return nil }
func distributedElector() gocron.Elector { return nil }
