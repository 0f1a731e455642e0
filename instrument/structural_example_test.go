package instrument_test

import (
	"context"
	"database/sql"
	"log"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
)

// A job that one replica runs at a time, under an advisory lock of PostgreSQL.
func ExampleSQLAdvisory() {
	db, err := sql.Open("pgx", "postgres://localhost/app")
	if err != nil {
		return // no driver is linked here
	}
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	report := m.Election("nightly-report", instrument.ExpectEvery(24*time.Hour), instrument.Backend("postgres"))
	lock := instrument.SQLAdvisory(db, instrument.PostgresTryLock(42), 10*time.Second)
	err = report.Run(context.Background(), lock, func(context.Context, *instrument.Term) error { return nil })
	if err != nil {
		log.Println("not this time:", err)
	}
}

// The leadership of a River client, by the row that River keeps.
func ExampleFollowRiver() {
	db, err := sql.Open("pgx", "postgres://localhost/app")
	if err != nil {
		return // no driver is linked here
	}
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	leading := m.Election("river", instrument.Hold(), instrument.Backend("postgres"))
	const clientID = "worker-1" // that of river.Config
	go instrument.FollowRiver(context.Background(), leading, db, clientID, 2*time.Second)
}

// An elector that can only be asked.
func ExamplePoll() {
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	leading := m.Election("scheduler", instrument.Hold(), instrument.HiddenRenewals())
	amLeader := func(context.Context) (bool, error) { return false, nil } // the elector's own question
	go instrument.Poll(context.Background(), leading, 5*time.Second, func(ctx context.Context) instrument.Observation {
		leads, err := amLeader(ctx)
		return instrument.Observation{Leading: leads, Err: err}
	})
}

// With gocron: scheduler, err := gocron.NewScheduler(gocron.WithDistributedElector(elector)).
func ExampleChecker() {
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	var mine interface{ IsLeader(context.Context) error } // the elector that the program has
	elector := instrument.Checker(m.Election("scheduler", instrument.Hold(), instrument.HiddenRenewals()), mine)
	_ = elector
}

// With controller-runtime: mgr.Add(work) instead of mgr.Add(manager.RunnableFunc(reconcile)).
func ExampleRunnable() {
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	reconcile := func(ctx context.Context) error { <-ctx.Done(); return nil }
	work := instrument.Runnable(m.Election("controller", instrument.Hold(), instrument.HiddenRenewals()), reconcile)
	_ = work
}

// An elector that campaigns, resigns and can be asked, as bluetape-go's.
func ExampleCampaigner() {
	m, err := instrument.New()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	var mine instrument.Candidate // the elector that the program has
	leading := m.Election("aggregator", instrument.Hold(), instrument.HiddenRenewals())
	elector := instrument.Campaigner(leading, mine, time.Second)
	_ = elector // campaigns, resigns and answers as mine does
}
