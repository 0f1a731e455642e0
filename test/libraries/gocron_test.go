package libraries

import (
	"context"
	"errors"
	"testing"
	"time"

	gocronredis "github.com/go-co-op/gocron-redis-lock/v2"
	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/gocronlead"
	"github.com/leaderscope/leaderscope/redact"
)

// fiveJobs are jobs whose names a program knows; one fails, one panics.
var fiveJobs = map[string]func() error{
	"billing": func() error { return nil }, "cleanup": func() error { return nil }, "export": func() error { return nil },
	"import": func() error { return errors.New("no such tenant") },
	"report": func() error { panic("no such tenant") },
}

// gocronReplica is one process: a scheduler with gocron's locker for Redis,
// wired as its README says, and nothing declared.
func gocronReplica(t *testing.T, address string) *instrument.Middleware {
	t.Helper()
	m, err := instrument.New(instrument.WithRedactor(redact.Raw()))
	if err != nil {
		t.Fatal(err)
	}
	locker, err := gocronredis.NewRedisLocker(goRedis(t, address), gocronredis.WithTries(1))
	if err != nil {
		t.Fatal(err)
	}
	scheduler, err := gocron.NewScheduler(gocronlead.WithLocker(m, locker))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = scheduler.Shutdown() })
	start := gocron.WithStartAt(gocron.WithStartDateTime(time.Now().Truncate(500 * time.Millisecond).Add(time.Second)))
	for name, job := range fiveJobs {
		task := gocron.NewTask(func() error {
			time.Sleep(200 * time.Millisecond)
			return job()
		})
		recovers := gocron.WithEventListeners(gocron.AfterJobRunsWithPanic(func(uuid.UUID, string, any) {}))
		if _, err := scheduler.NewJob(gocron.DurationJob(500*time.Millisecond), task, gocron.WithName(name), start, recovers); err != nil {
			t.Fatal(err)
		}
	}
	scheduler.Start()
	return m
}

func fiveJobsOnRedis(t *testing.T, address string) {
	replicas := []*instrument.Middleware{gocronReplica(t, address), gocronReplica(t, address), gocronReplica(t, address)}
	sum := func(name string) electtest.Series {
		all := electtest.Series{}
		for _, m := range replicas {
			r := electtest.Read(m, name)
			if why := electtest.Broken(r); why != "" {
				t.Errorf("%s: %s in %v", name, why, r)
			}
			for k, v := range r {
				all[k] += v
			}
		}
		return all
	}
	for name := range fiveJobs {
		eventually(t, func() bool {
			r := sum(name)
			return r[of(catalog.TermsEnded, catalog.Released.String())] >= 3 && r[reason(instrument.Contended)] >= 3
		})
		r := sum(name)
		for _, alarming := range []instrument.Reason{instrument.BackendError, instrument.Unknown, instrument.SessionLost} {
			if r[reason(alarming)] != 0 {
				t.Errorf("%s on a healthy Redis: %v %s", name, r[reason(alarming)], alarming)
			}
		}
		runs, failed, panicked := r[catalog.ExecutionDuration.Count()], r[of(catalog.ExecutionFailures, catalog.FailedWithError.String())], r[of(catalog.ExecutionFailures, catalog.FailedWithPanic.String())]
		switch name {
		case "import":
			if failed < runs-1 || panicked != 0 { // the next run may have ended meanwhile
				t.Errorf("%s: of %v runs %v failed, %v panicked", name, runs, failed, panicked)
			}
		case "report":
			if panicked < runs-1 || failed != 0 {
				t.Errorf("%s: of %v runs %v failed, %v panicked", name, runs, failed, panicked)
			}
		default:
			if failed != 0 || panicked != 0 {
				t.Errorf("%s: of %v runs %v failed, %v panicked", name, runs, failed, panicked)
			}
		}
	}
}

func TestFiveJobsUnderGocronsLockerForRedis(t *testing.T) { fiveJobsOnRedis(t, redisInMemory(t)) }

// TestGocronsLockerForRedisHidesWhyItFails is the reason for its place in
// gocronlead's README: when Redis is away, its error is the same.
func TestGocronsLockerForRedisHidesWhyItFails(t *testing.T) {
	address := redisInMemory(t)
	client := goRedis(t, address)
	locker, err := gocronredis.NewRedisLocker(client, gocronredis.WithTries(1))
	if err != nil {
		t.Fatal(err)
	}
	first, err := locker.Lock(t.Context(), "job")
	if err != nil {
		t.Fatal(err)
	}
	_, contended := locker.Lock(t.Context(), "job")
	if err := first.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	_ = client.Close()
	if _, away := locker.Lock(t.Context(), "job"); away != contended || away != gocronredis.ErrFailedToObtainLock {
		t.Errorf("%v and %v: the locker tells them apart", contended, away)
	}
}

func TestASchedulerThatStopsWasNotRefused(t *testing.T) {
	address := redisInMemory(t)
	locker, err := gocronredis.NewRedisLocker(goRedis(t, address), gocronredis.WithTries(1))
	if err != nil {
		t.Fatal(err)
	}
	m, err := instrument.New(instrument.WithRedactor(redact.Raw()))
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := gocronlead.Locker(m, locker).Lock(ended, "job"); err == nil {
		t.Fatal("won")
	}
	if r := electtest.Read(m, "job"); r[of(catalog.NotAcquired, catalog.CanceledAttempt.String())] != 1 {
		t.Errorf("%v", r)
	}
}

func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not within 30 s")
		}
	}
}
