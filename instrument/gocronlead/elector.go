package gocronlead

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	"github.com/leaderscope/leaderscope/instrument"
)

// JobElector passes IsLeader calls through and observes the answers. It is a
// gocron.Elector.
type JobElector struct {
	e           *instrument.Election
	next        gocron.Elector
	classifiers []instrument.Classifier
	reports     reports

	mu       sync.Mutex
	term     *instrument.Term // the last one; nil before the first
	shutDown bool             // the scheduler has stopped since the last question
	runs     map[uuid.UUID][]*run
}

// Elector observes the answers of elector. By gocron's contract an error means
// that this instance does not run the job, so it means that this process does
// not lead. Three errors leave the last state, because the leader is unknown: the
// end of the caller's context, a plain network error, and an error that one of the
// classifiers classifies as a failed backend or unknown. Pass the same classifiers
// to e with instrument.Classify.
//
// The elector is not called between jobs, so the state may be outdated. When the
// scheduler stops, the term ends as canceled; the next call may begin another.
// There is no lease and no renewal: declare instrument.Hold and
// instrument.HiddenRenewals on e. Jobs are work of the term under which they
// began; Monitor reports them.
func Elector(e *instrument.Election, elector gocron.Elector, classifiers ...instrument.Classifier) *JobElector {
	return &JobElector{e: e, next: elector, classifiers: classifiers, runs: map[uuid.UUID][]*run{}}
}

var errNoElector = errors.New("leaderscope: gocron: the elector is nil: pass a gocron.Elector to gocronlead.Elector")

// IsLeader calls the wrapped elector and returns its answer unchanged.
func (j *JobElector) IsLeader(ctx context.Context) error {
	j.reports.check()
	if j.next == nil {
		return errNoElector
	}
	err := j.next.IsLeader(ctx)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.shutDown = false
	leading := j.term.Leading()
	switch saysNothing := err != nil && j.saysNothing(ctx, err); {
	case err == nil && !leading:
		j.term = j.e.Begin(context.Background()).Won(instrument.NewLease(nil))
	case err == nil:
	case saysNothing && leading:
		j.term.Sink().RenewalFailed(err)
	case saysNothing:
		j.e.Begin(ctx).NotAcquired(err)
	case leading:
		j.term.Sink().Lost(instrument.ErrSessionLost)
	}
	return err
}

// Monitor reports the runs of jobs to the elector, and then everything to next,
// which may be nil. It is for gocron.WithSchedulerMonitor.
func (j *JobElector) Monitor(next gocron.SchedulerMonitor) gocron.SchedulerMonitor {
	return newMonitor(j, next)
}

func (j *JobElector) running(job gocron.Job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.term != nil {
		j.runs[job.ID()] = append(j.runs[job.ID()], startRun(context.Background(), j.term))
	}
}

// ended ends the first run of the job that has not ended. One that was skipped
// has none.
func (j *JobElector) ended(job gocron.Job, err error) {
	if r := j.firstOf(job.ID()); r != nil {
		r.err = err
		r.end()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.endIfOver()
}

// errStopped is the cause of a term that was open when the scheduler stopped.
var errStopped = fmt.Errorf("leaderscope: gocron: the scheduler has stopped and no longer calls its elector: %w", context.Canceled)

// stopped ends the term, once the last job has returned: gocron may have given
// up waiting for it, and nothing says that another leads meanwhile.
func (j *JobElector) stopped() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.shutDown = true
	j.endIfOver()
}

func (j *JobElector) endIfOver() {
	if j.shutDown && len(j.runs) == 0 {
		j.term.Sink().Lost(errStopped)
	}
}

func (j *JobElector) firstOf(id uuid.UUID) *run {
	j.mu.Lock()
	defer j.mu.Unlock()
	runs := j.runs[id]
	switch len(runs) {
	case 0:
		return nil
	case 1:
		delete(j.runs, id)
	default:
		j.runs[id] = runs[1:]
	}
	return runs[0]
}

func (j *JobElector) saysNothing(ctx context.Context, err error) bool {
	if ctx != nil && ctx.Err() != nil {
		return true
	}
	if reason, ok := j.opinion(err); ok {
		return reason == instrument.BackendError || reason == instrument.Unknown
	}
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

// opinion is that of the first classifier that has one; one that panics has
// none.
func (j *JobElector) opinion(err error) (reason instrument.Reason, ok bool) {
	defer func() {
		if recover() != nil {
			reason, ok = 0, false
		}
	}()
	for _, c := range j.classifiers {
		if c == nil {
			continue
		}
		if reason, ok = c.Classify(err); ok {
			return reason, true
		}
	}
	return 0, false
}

// Format writes the label of the lock for every verb.
func (j *JobElector) Format(f fmt.State, verb rune) { j.e.Format(f, verb) }
