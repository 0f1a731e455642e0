package gocronlead

import (
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"sync"

	"github.com/go-co-op/gocron/v2"

	"github.com/leaderscope/leaderscope/instrument"
)

// JobLocker passes the locks of jobs through and observes each. It is a
// gocron.Locker, for gocron.WithDistributedLocker and
// gocron.WithDistributedJobLocker. It stores no names.
type JobLocker struct {
	m       *instrument.Middleware
	next    gocron.Locker
	opts    []instrument.ElectionOption
	reports reports

	hash namesHash
	mu   sync.Mutex
	open map[uint64][]*run // jobs that run, by the hash of the name
}

// namesHash distinguishes names that must not be found in memory or in a log.
type namesHash struct{ seed maphash.Seed }

func newNamesHash() namesHash { return namesHash{maphash.MakeSeed()} }

func (h namesHash) of(name string) uint64 { return maphash.String(h.seed, name) }

// Locker observes the locks that locker acquires for jobs, each as the election
// of the job's name: m.Named(name, opts...). A job without a name has the name of
// its function. A name that was passed to m.Election before has that handle, with
// its label and options, such as instrument.ExpectEvery; then pass no opts, since m
// counts differing options for a handle as faults.
//
// gocron holds a lock while its job runs, so the time from Lock to Unlock
// counts as guarded work. Monitor reports whether the job failed.
//
// An error of Lock counts as contended if it is recognised: gocron's redis-lock
// returns the same error for every failure, which counts as contended, and so
// does a violated unique key. Network errors and failures of PostgreSQL are
// backend_error. Any other error is unknown, until instrument.Classify in opts
// classifies it. Locks may have the optional capabilities of an instrument.Lease.
//
// A nil Middleware observes nothing.
func Locker(m *instrument.Middleware, locker gocron.Locker, opts ...instrument.ElectionOption) *JobLocker {
	return &JobLocker{m: m, next: locker, opts: opts, hash: newNamesHash(), open: map[uint64][]*run{}}
}

// Lock takes the lock of a job from the wrapped locker, whose answer comes back
// untouched.
func (k *JobLocker) Lock(ctx context.Context, name string) (gocron.Lock, error) {
	k.reports.check()
	a := k.attempt(name)
	term, err := k.m.Named(name, k.opts...).Acquire(ctx, a.acquirer)
	if err != nil {
		return a.answer(err)
	}
	l := &lock{term: term, run: startRun(context.WithoutCancel(ctx), term)}
	id := k.hash.of(name)
	k.enter(id, l.run)
	l.leave = func() { k.leave(id, l.run) }
	return l, nil
}

// Monitor reports which jobs failed to the locker, and then everything to next,
// which may be nil. It is for gocron.WithSchedulerMonitor.
func (k *JobLocker) Monitor(next gocron.SchedulerMonitor) gocron.SchedulerMonitor {
	return newMonitor(k, next)
}

func (k *JobLocker) enter(id uint64, r *run) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open[id] = append(k.open[id], r)
}

func (k *JobLocker) leave(id uint64, r *run) {
	k.mu.Lock()
	defer k.mu.Unlock()
	rest := slices.DeleteFunc(k.open[id], func(other *run) bool { return other == r })
	if len(rest) == 0 {
		delete(k.open, id)
		return
	}
	k.open[id] = rest
}

// running marks a run. Of several of one name it may be another than the one
// that gocron means: their sums are right.
func (k *JobLocker) running(job gocron.Job) {
	k.mark(job.Name(), func(r *run) bool { return !r.began }, func(r *run) { r.began = true })
}

// ended notes the outcome of a run. A job that was skipped after its lock was
// taken has not run, and not failed.
func (k *JobLocker) ended(job gocron.Job, err error) {
	k.mark(job.Name(), func(r *run) bool { return r.began && !r.ended }, func(r *run) { r.ended, r.err = true, err })
}

// stopped: a lock ends with its job.
func (k *JobLocker) stopped() {}

func (k *JobLocker) mark(name string, which func(*run) bool, mark func(*run)) {
	id := k.hash.of(name)
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := slices.IndexFunc(k.open[id], which); i >= 0 {
		mark(k.open[id][i])
	}
}

// Format writes what it is for every verb.
func (k *JobLocker) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "gocron locker") }
