package gocronlead

import (
	"time"

	"github.com/go-co-op/gocron/v2"
)

// listener is notified of each run of a job. One that was skipped has begun and
// ended and was never running.
type listener interface {
	running(job gocron.Job)
	ended(job gocron.Job, err error)
	// stopped is called when the scheduler no longer starts jobs, and those that
	// ran have returned unless gocron gave up waiting for them.
	stopped()
}

// monitor tells a listener first and then the program's own monitor.
type monitor struct {
	gocron.SchedulerMonitor
	to listener
}

func newMonitor(to listener, next gocron.SchedulerMonitor) gocron.SchedulerMonitor {
	if next == nil {
		next = quiet{}
	}
	return &monitor{next, to}
}

func (m *monitor) JobRunning(job gocron.Job) {
	m.to.running(job)
	m.SchedulerMonitor.JobRunning(job)
}

func (m *monitor) JobFailed(job gocron.Job, err error) {
	m.to.ended(job, err)
	m.SchedulerMonitor.JobFailed(job, err)
}

func (m *monitor) JobCompleted(job gocron.Job) {
	m.to.ended(job, nil)
	m.SchedulerMonitor.JobCompleted(job)
}

func (m *monitor) SchedulerStopped() {
	m.to.stopped()
	m.SchedulerMonitor.SchedulerStopped()
}

// quiet is a monitor that does nothing.
type quiet struct{}

func (quiet) SchedulerStarted()                                      {}
func (quiet) SchedulerStopped()                                      {}
func (quiet) SchedulerShutdown()                                     {}
func (quiet) JobRegistered(gocron.Job)                               {}
func (quiet) JobUnregistered(gocron.Job)                             {}
func (quiet) JobStarted(gocron.Job)                                  {}
func (quiet) JobRunning(gocron.Job)                                  {}
func (quiet) JobFailed(gocron.Job, error)                            {}
func (quiet) JobCompleted(gocron.Job)                                {}
func (quiet) JobExecutionTime(gocron.Job, time.Duration)             {}
func (quiet) JobSchedulingDelay(gocron.Job, time.Time, time.Time)    {}
func (quiet) ConcurrencyLimitReached(limitType string, _ gocron.Job) {}
