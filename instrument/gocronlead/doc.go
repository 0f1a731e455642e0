// Package gocronlead makes the distributed schedulers of go-co-op/gocron
// observable. There is one option for each:
//
//	gocron.NewScheduler(gocronlead.WithLocker(m, locker))            // each job under a lock
//	gocron.NewScheduler(gocronlead.WithElector(election, elector))   // all jobs on the leader
//
// Jobs count as guarded work, and failed jobs as failed work.
//
// When jobs run, and on which instance, does not belong here.
package gocronlead
