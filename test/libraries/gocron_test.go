package libraries

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/classify"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	instrgocron "github.com/leaderscope/leaderscope/instrument/gocron"
	"github.com/leaderscope/leaderscope/redact"
)

// locker is a gocron.Locker as people write them.
type locker struct{ client *redislock.Client }

type unlocker struct{ *redislock.Lock }

func (u unlocker) Unlock(ctx context.Context) error { return u.Release(ctx) }

func (l locker) Lock(ctx context.Context, key string) (gocron.Lock, error) {
	lock, err := l.client.Obtain(ctx, key, ttl, nil)
	if err != nil {
		return nil, err
	}
	return unlocker{lock}, nil
}

type follower struct{}

func (follower) IsLeader(context.Context) error { return errors.New("not the leader") }

func TestJobsOfGocronUnderAWrappedLocker(t *testing.T) {
	m, err := instrument.New(instrument.WithRedactor(redact.Raw()))
	if err != nil {
		t.Fatal(err)
	}
	client := redislock.New(goRedis(t, redisInMemory(t)))
	if _, err := client.Obtain(t.Context(), "elsewhere", time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	wrapped := instrgocron.NewLocker(func(key string) *instrument.Election {
		return m.Named(key, instrument.LeaseDuration(ttl), instrument.Classify(classify.ContendedIs(redislock.ErrNotObtained)))
	}, locker{client})
	ran := runJobs(t, gocron.WithDistributedLocker(wrapped), "here", "elsewhere")
	if got := <-ran; got != "here" {
		t.Errorf("%q ran", got)
	}
	eventually(t, func() bool {
		here, elsewhere := electtest.Read(m, "here"), electtest.Read(m, "elsewhere")
		return here[of(catalog.TermsEnded, catalog.Released.String())] == 1 && elsewhere[reason(instrument.Contended)] == 1
	})
	if len(ran) != 0 {
		t.Errorf("%q ran too", <-ran)
	}
}

func TestFailuresOfGocronsJobsShow(t *testing.T) {
	m, err := instrument.New(instrument.WithRedactor(redact.Raw()))
	if err != nil {
		t.Fatal(err)
	}
	wrapped := instrgocron.NewLocker(func(key string) *instrument.Election { return m.Named(key) }, locker{redislock.New(goRedis(t, redisInMemory(t)))})
	s, err := gocron.NewScheduler(gocron.WithDistributedLocker(wrapped), gocron.WithGlobalJobOptions(gocron.WithEventListeners(
		gocron.AfterJobRunsWithError(func(_ uuid.UUID, name string, err error) { wrapped.Failed(name, err) }),
		gocron.AfterJobRunsWithPanic(func(_ uuid.UUID, name string, _ any) { wrapped.Panicked(name) }),
	)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Shutdown() })
	for name, job := range map[string]func() error{
		"fails": func() error { return errors.New("no such tenant") }, "panics": func() error { panic("no such tenant") }, "succeeds": func() error { return nil },
	} {
		_, err := s.NewJob(gocron.OneTimeJob(gocron.OneTimeJobStartImmediately()), gocron.NewTask(job), gocron.WithName(name))
		if err != nil {
			t.Fatal(err)
		}
	}
	s.Start()
	for name, want := range map[string][2]float64{"fails": {1, 0}, "panics": {0, 1}, "succeeds": {0, 0}} {
		eventually(t, func() bool { return electtest.Read(m, name)[of(catalog.TermsEnded, catalog.Released.String())] == 1 })
		r := electtest.Read(m, name)
		got := [2]float64{r[of(catalog.ExecutionFailures, catalog.FailedWithError.String())], r[of(catalog.ExecutionFailures, catalog.FailedWithPanic.String())]}
		if got != want {
			t.Errorf("%s: failures by error and panic %v, want %v", name, got, want)
		}
	}
}

func TestJobsOfGocronUnderAWrappedElector(t *testing.T) {
	e, series := election(t, instrument.Hold(), instrument.HiddenRenewals())
	ran := runJobs(t, gocron.WithDistributedElector(instrgocron.NewElector(e, follower{})), "job")
	eventually(t, func() bool { _, known := e.ObservedAge(); return known })
	if r := series(); r[of(catalog.Active)] != 0 || len(ran) != 0 {
		t.Errorf("%v; %d ran", r, len(ran))
	}
}

// runJobs runs jobs of these names once and hands over which ran.
func runJobs(t *testing.T, option gocron.SchedulerOption, names ...string) <-chan string {
	t.Helper()
	s, err := gocron.NewScheduler(option)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Shutdown() })
	ran := make(chan string, len(names))
	for _, name := range names {
		_, err := s.NewJob(gocron.OneTimeJob(gocron.OneTimeJobStartImmediately()), gocron.NewTask(func() { ran <- name }), gocron.WithName(name))
		if err != nil {
			t.Fatal(err)
		}
	}
	s.Start()
	return ran
}

func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not within 30 s")
		}
	}
}
