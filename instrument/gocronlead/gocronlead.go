package gocronlead

import (
	"errors"
	"log/slog"
	"reflect"
	"sync"

	"github.com/go-co-op/gocron/v2"

	"github.com/leaderscope/leaderscope/instrument"
)

// WithLocker is gocron.WithDistributedLocker, observed; see [Locker]. It also
// sets the scheduler's only gocron.SchedulerMonitor, through which gocron reports
// whether a job failed. A program with its own monitor uses Locker instead:
//
//	jobs := gocronlead.Locker(m, locker)
//	gocron.NewScheduler(gocron.WithDistributedLocker(jobs), gocron.WithSchedulerMonitor(jobs.Monitor(own)))
//
// After gocron.WithSchedulerMonitor the option returns an error. Before it, gocron
// reports to the other monitor: failures of jobs are not counted, and this is
// logged once.
func WithLocker(m *instrument.Middleware, locker gocron.Locker, opts ...instrument.ElectionOption) gocron.SchedulerOption {
	if locker == nil {
		return gocron.WithDistributedLocker(nil) // the error is gocron's
	}
	k := Locker(m, locker, opts...)
	monitor := k.Monitor(nil)
	return both(&k.reports, monitor, gocron.WithDistributedLocker(k), gocron.WithSchedulerMonitor(monitor))
}

// WithElector is gocron.WithDistributedElector, observed; see [Elector]. For the
// scheduler's monitor see WithLocker.
func WithElector(e *instrument.Election, elector gocron.Elector, classifiers ...instrument.Classifier) gocron.SchedulerOption {
	if elector == nil {
		return gocron.WithDistributedElector(nil)
	}
	j := Elector(e, elector, classifiers...)
	monitor := j.Monitor(nil)
	return both(&j.reports, monitor, gocron.WithDistributedElector(j), gocron.WithSchedulerMonitor(monitor))
}

var errMonitorTaken = errors.New("leaderscope: gocron: the scheduler has a SchedulerMonitor, which this option would replace; pass it to the method Monitor of gocronlead.Locker or gocronlead.Elector and use that")

// both is one option that stands for two. What it configures is a type that
// gocron does not export, and inferred.
func both[S any](r *reports, monitor gocron.SchedulerMonitor, guard, watch func(S) error) func(S) error {
	return func(s S) error {
		if taken(s) {
			return errMonitorTaken
		}
		if err := guard(s); err != nil {
			return err
		}
		r.displaced = func() bool { return !reportsTo(s, monitor) }
		return watch(s)
	}
}

// monitorOf is the monitor of a scheduler, which gocron does not show; ok is
// false if a version keeps it elsewhere. Two monitors cannot be distinguished
// otherwise from one that replaced the other.
func monitorOf(scheduler any) (monitor reflect.Value, ok bool) {
	s := reflect.ValueOf(scheduler)
	if s.Kind() != reflect.Pointer || s.Elem().Kind() != reflect.Struct {
		return reflect.Value{}, false
	}
	monitor = s.Elem().FieldByName("schedulerMonitor")
	return monitor, monitor.IsValid() && monitor.Kind() == reflect.Interface
}

func taken(scheduler any) bool {
	monitor, ok := monitorOf(scheduler)
	return ok && !monitor.IsNil()
}

// reportsTo is true if the scheduler does not expose its monitor.
func reportsTo(scheduler any, ours gocron.SchedulerMonitor) bool {
	monitor, ok := monitorOf(scheduler)
	if !ok {
		return true
	}
	own := reflect.ValueOf(ours)
	return !monitor.IsNil() && monitor.Elem().Type() == own.Type() && monitor.Elem().Pointer() == own.Pointer()
}

// reports says once that gocron reports to another monitor.
type reports struct {
	displaced func() bool // nil: it is not known which scheduler it is
	once      sync.Once
}

func (r *reports) check() {
	r.once.Do(func() {
		if r.displaced != nil && r.displaced() {
			slog.Default().Warn("leaderscope: gocron: another SchedulerMonitor was set after gocronlead's option, so that failures of jobs are not seen; pass it to the method Monitor of gocronlead.Locker or gocronlead.Elector and use that")
		}
	})
}
