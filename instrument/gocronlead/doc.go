// Package gocronlead makes the distributed schedulers of go-co-op/gocron
// observable, by an option for each:
//
//	gocron.NewScheduler(gocronlead.WithLocker(m, locker))            // each job under a lock
//	gocron.NewScheduler(gocronlead.WithElector(election, elector))   // all jobs on a leader
//
// Jobs count as guarded work, and those that fail as failed work.
//
// When jobs run, and on which instance, does not belong here.
package gocronlead
