package electtest

import (
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/internal/bridge"
)

// Reports are the functions that take what a Watcher reports to the Sink of
// NewSink; nil functions ignore it.
type Reports struct {
	Renewed       func(instrument.Renewal)
	RenewalFailed func(error)
	Lost          func(cause error)
}

// NewSink makes a Sink for testing a Watcher by itself, without a Middleware.
func NewSink(r Reports) instrument.Sink {
	renewed := func(sent, expiry time.Time, granted time.Duration) {
		if r.Renewed != nil {
			r.Renewed(instrument.Renewal{Sent: sent, Expiry: expiry, Granted: granted})
		}
	}
	failed := func(_ time.Time, err error) {
		if r.RenewalFailed != nil {
			r.RenewalFailed(err)
		}
	}
	lost := func(cause error) {
		if r.Lost != nil {
			r.Lost(cause)
		}
	}
	return bridge.NewSink(renewed, failed, lost).(instrument.Sink)
}
