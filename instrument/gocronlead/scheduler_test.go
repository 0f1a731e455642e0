package gocronlead_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/gocronlead"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

// table is a locker whose locks last for a while, as those of Redis or a
// database do.
type table struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (x *table) Lock(_ context.Context, key string) (gocron.Lock, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if time.Now().Before(x.until[key]) {
		return nil, errHeld
	}
	x.until[key] = time.Now().Add(time.Minute)
	return row{x, key}, nil
}

type row struct {
	x   *table
	key string
}

func (r row) Unlock(ctx context.Context) error {
	r.x.mu.Lock()
	defer r.x.mu.Unlock()
	delete(r.x.until, r.key)
	return ctx.Err()
}

// recorder is a monitor of the program.
type recorder struct {
	gocron.SchedulerMonitor
	mu     sync.Mutex
	events []string
}

func (r *recorder) note(what, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, what+" "+name)
}

func (r *recorder) SchedulerStarted()                                   {}
func (r *recorder) SchedulerStopped()                                   {}
func (r *recorder) SchedulerShutdown()                                  {}
func (r *recorder) JobRegistered(gocron.Job)                            {}
func (r *recorder) JobUnregistered(gocron.Job)                          {}
func (r *recorder) JobStarted(gocron.Job)                               {}
func (r *recorder) JobExecutionTime(gocron.Job, time.Duration)          {}
func (r *recorder) JobSchedulingDelay(gocron.Job, time.Time, time.Time) {}
func (r *recorder) JobRunning(job gocron.Job)                           { r.note("running", job.Name()) }
func (r *recorder) JobFailed(job gocron.Job, _ error)                   { r.note("failed", job.Name()) }
func (r *recorder) JobCompleted(job gocron.Job)                         { r.note("completed", job.Name()) }

// runOnce runs jobs of 3 s once, in a scheduler with these options.
func runOnce(t *testing.T, jobs map[string]func() error, jobOpts []gocron.JobOption, opts ...gocron.SchedulerOption) {
	t.Helper()
	scheduler, err := gocron.NewScheduler(opts...)
	if err != nil {
		t.Fatal(err)
	}
	for name, work := range jobs {
		task := gocron.NewTask(func() error {
			time.Sleep(3 * s)
			return work()
		})
		_, err := scheduler.NewJob(gocron.OneTimeJob(gocron.OneTimeJobStartImmediately()), task, append(jobOpts, gocron.WithName(name))...)
		if err != nil {
			t.Fatal(err)
		}
	}
	scheduler.Start()
	time.Sleep(5 * s)
	if err := scheduler.Shutdown(); err != nil {
		t.Error(err)
	}
}

var jobs = map[string]func() error{
	"succeeds": func() error { return nil },
	"fails":    func() error { return errFailed },
	"panics":   func() error { panic("no such tenant") },
}

// recovers has gocron recover panics, as a program asks for.
var recovers = gocron.WithEventListeners(gocron.AfterJobRunsWithPanic(func(uuid.UUID, string, any) {}))

func failures(s electtest.Series) string {
	return fmt.Sprint(s[`leader_execution_failures_total{cause="error"}`], s[`leader_execution_failures_total{cause="panic"}`],
		s[`leader_terms_ended_total{cause="released"}`], s["leader_running"])
}

func TestJobsOfASchedulerWithALocker(t *testing.T) {
	want := map[string]string{"succeeds": "0 0 1 0", "fails": "1 0 1 0", "panics": "0 1 1 0"}
	mine := &recorder{}
	for name, options := range map[string]func(m *instrument.Middleware) []gocron.SchedulerOption{
		"an option": func(m *instrument.Middleware) []gocron.SchedulerOption {
			return []gocron.SchedulerOption{gocronlead.WithLocker(m, &table{until: map[string]time.Time{}})}
		},
		"with a monitor of the program": func(m *instrument.Middleware) []gocron.SchedulerOption {
			k := gocronlead.Locker(m, &table{until: map[string]time.Time{}})
			return []gocron.SchedulerOption{gocron.WithDistributedLocker(k), gocron.WithSchedulerMonitor(k.Monitor(mine))}
		},
		"with other listeners and options of the program": func(m *instrument.Middleware) []gocron.SchedulerOption {
			return []gocron.SchedulerOption{
				gocron.WithGlobalJobOptions(gocron.WithEventListeners(gocron.AfterJobRunsWithError(func(uuid.UUID, string, error) {}))),
				gocronlead.WithLocker(m, &table{until: map[string]time.Time{}}),
				gocron.WithLimitConcurrentJobs(9, gocron.LimitModeWait),
			}
		},
	} {
		expect.Bubble(t, name, func(t *testing.T) {
			m := expect.Middleware(t)
			runOnce(t, jobs, []gocron.JobOption{recovers}, options(m)...)
			for job, want := range want {
				if got := failures(electtest.Read(m, job)); got != want {
					t.Errorf("%s: failed with an error, with a panic, released, runs: %s, want %s", job, got, want)
				}
			}
		})
	}
	if len(mine.events) != 6 {
		t.Errorf("the program's monitor was told of %q", mine.events)
	}
}

func TestAJobOfASchedulerShowsWholeSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := expect.Middleware(t)
		runOnce(t, map[string]func() error{expect.Lock: jobs["fails"]}, nil, gocronlead.WithLocker(m, &table{until: map[string]time.Time{}}, instrument.Backend("redis")))
		expect.Whole(t, m, "afterwards", ran(t, instrument.Backend("redis")).With(electtest.Series{`leader_execution_failures_total{cause="error"}`: 1}))
	})
}

func TestOfTwoSchedulersOneRunsAJobAndTheOtherIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &table{until: map[string]time.Time{}}
		var replicas []*instrument.Middleware
		var running sync.WaitGroup
		for range 2 {
			m := expect.Middleware(t)
			replicas = append(replicas, m)
			running.Go(func() {
				runOnce(t, map[string]func() error{expect.Lock: jobs["succeeds"]}, nil, gocronlead.WithLocker(m, x, instrument.Classify(heldIsContended)))
			})
		}
		running.Wait()
		sum := electtest.Series{}
		for _, m := range replicas {
			for k, v := range electtest.Read(m, expect.Lock) {
				sum[k] += v
			}
		}
		if sum["leader_acquired_total"] != 1 || sum[`leader_not_acquired_total{reason="contended"}`] != 1 || sum[`leader_terms_ended_total{cause="released"}`] != 1 {
			t.Errorf("%v", sum)
		}
	})
}

var heldIsContended = instrument.ClassifierFunc(func(err error) (instrument.Reason, bool) { return instrument.Contended, errors.Is(err, errHeld) })

// TestAJobThatIsRemovedWhileItRuns has gocron release the lock with a context
// that is over, as a shutdown does: a locker that minds leaves it to its lease.
func TestAJobThatIsRemovedWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := expect.Middleware(t)
		scheduler, err := gocron.NewScheduler(gocronlead.WithLocker(m, &table{until: map[string]time.Time{}}))
		if err != nil {
			t.Fatal(err)
		}
		job, err := scheduler.NewJob(gocron.OneTimeJob(gocron.OneTimeJobStartImmediately()), gocron.NewTask(func() { time.Sleep(3 * s) }), gocron.WithName(expect.Lock))
		if err != nil {
			t.Fatal(err)
		}
		scheduler.Start()
		time.Sleep(s)
		if err := scheduler.RemoveJob(job.ID()); err != nil {
			t.Error(err)
		}
		time.Sleep(9 * s)
		expect.Whole(t, m, "afterwards", ran(t).With(electtest.Series{
			`leader_terms_ended_total{cause="release_failed"}`: 1, `leader_terms_ended_total{cause="released"}`: 0,
			`leader_releases_total{result="error"}`: 1, `leader_releases_total{result="ok"}`: 0,
		}))
		if err := scheduler.Shutdown(); err != nil {
			t.Error(err)
		}
	})
}

func TestALockerOfOneJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := expect.Middleware(t)
		k := gocronlead.Locker(m, &table{until: map[string]time.Time{}})
		runOnce(t, map[string]func() error{expect.Lock: jobs["fails"]}, []gocron.JobOption{gocron.WithDistributedJobLocker(k)}, gocron.WithSchedulerMonitor(k.Monitor(nil)))
		expect.Whole(t, m, "afterwards", ran(t).With(electtest.Series{`leader_execution_failures_total{cause="error"}`: 1}))
	})
}

func TestJobsOfASchedulerWithAnElector(t *testing.T) {
	for name, leads := range map[string]bool{"that leads": true, "that does not": false} {
		expect.Bubble(t, name, func(t *testing.T) {
			m := expect.Middleware(t)
			next := &asks{}
			want := leading(t).With(electtest.Series{
				"leader_execution_duration_seconds_count": 3, "leader_execution_duration_seconds_sum": 9,
				`leader_execution_failures_total{cause="error"}`: 1, `leader_execution_failures_total{cause="panic"}`: 1,
				"leader_active": 0, `leader_terms_ended_total{cause="canceled"}`: 1,
			})
			if !leads {
				next.answer = errHeld
				want = expect.Fresh(t, electorOpts...)
			}
			runOnce(t, jobs, []gocron.JobOption{recovers}, gocronlead.WithElector(m.Election(expect.Lock, electorOpts...), next))
			synctest.Wait() // for what the monitor is told after the shutdown
			expect.Whole(t, m, "afterwards", want)
		})
	}
}

func TestOptionsThatDoNotGoTogether(t *testing.T) {
	m := expect.Middleware(t)
	own := gocron.WithSchedulerMonitor(&recorder{})
	under, led := gocronlead.WithLocker(m, &table{}), gocronlead.WithElector(nil, &asks{})
	for _, c := range []struct {
		name  string
		opts  []gocron.SchedulerOption
		wants string // "": it is made
	}{
		{"no locker", []gocron.SchedulerOption{gocronlead.WithLocker(m, nil)}, gocron.ErrWithDistributedLockerNil.Error()},
		{"no elector", []gocron.SchedulerOption{gocronlead.WithElector(nil, nil)}, gocron.ErrWithDistributedElectorNil.Error()},
		{"a monitor of the program before", []gocron.SchedulerOption{own, under}, "has a SchedulerMonitor"},
		{"a monitor of the program before an elector", []gocron.SchedulerOption{own, led}, "has a SchedulerMonitor"},
		{"an elector and a locker, which gocron would not ask", []gocron.SchedulerOption{led, under}, "has a SchedulerMonitor"},
		{"a monitor of the program after", []gocron.SchedulerOption{under, own}, ""},
		{"a metrics monitor of the program", []gocron.SchedulerOption{gocron.WithMonitorStatus(status{}), under}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			scheduler, err := gocron.NewScheduler(c.opts...)
			if c.wants == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), c.wants) {
				t.Errorf("got %v, want %q", err, c.wants)
			}
			if err == nil {
				_ = scheduler.Shutdown()
			}
		})
	}
}

// status is a monitor of gocron's other kind.
type status struct{ gocron.MonitorStatus }

func TestAMonitorThatReplacesOursIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(before)
	synctest.Test(t, func(t *testing.T) {
		m := expect.Middleware(t)
		locked := gocronlead.WithLocker(m, &table{until: map[string]time.Time{}})
		runOnce(t, jobs, []gocron.JobOption{recovers}, locked, gocron.WithSchedulerMonitor(&recorder{}))
		runOnce(t, jobs, []gocron.JobOption{recovers}, gocronlead.WithLocker(m, &table{until: map[string]time.Time{}}))
	})
	if n := strings.Count(log.String(), "another SchedulerMonitor"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, log.String())
	}
}
