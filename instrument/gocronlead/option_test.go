package gocronlead

import (
	"errors"
	"testing"

	"github.com/go-co-op/gocron/v2"
)

// scheduler is one as gocron has it, without a monitor.
type scheduler struct{ schedulerMonitor gocron.SchedulerMonitor }

func TestTheMonitorOfASchedulerIsFoundWhereGocronKeepsIt(t *testing.T) {
	number := 7
	for name, c := range map[string]struct {
		scheduler any
		ok        bool
	}{
		"as gocron has it":             {&scheduler{schedulerMonitor: nil}, true},
		"no pointer":                   {number, false},
		"no struct":                    {&number, false},
		"a struct without the field":   {&struct{ monitor gocron.SchedulerMonitor }{}, false},
		"a field that is no interface": {&struct{ schedulerMonitor int }{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if _, ok := monitorOf(c.scheduler); ok != c.ok {
				t.Errorf("found: %v", ok)
			}
			if taken(c.scheduler) {
				t.Error("it has a monitor")
			}
		})
	}
}

// inner and outer are two monitors at one address.
type inner struct{ gocron.SchedulerMonitor }

type outer struct{ inner }

func TestASchedulerReportsToTheMonitorThatItHas(t *testing.T) {
	o := &outer{}
	ours := &o.inner
	for name, c := range map[string]struct {
		scheduler any
		want      bool
	}{
		"ours":                             {&scheduler{ours}, true},
		"none":                             {&scheduler{nil}, false},
		"another":                          {&scheduler{&inner{}}, false},
		"another that begins with ours":    {&scheduler{o}, false},
		"one that cannot be seen":          {7, true},
		"a scheduler of another structure": {&struct{ monitor gocron.SchedulerMonitor }{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := reportsTo(c.scheduler, ours); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestTheSecondOfTwoOptionsIsNotSetWhenTheFirstFails(t *testing.T) {
	errGuard := errors.New("guard")
	watched := false
	option := both(&reports{}, nil, func(*scheduler) error { return errGuard }, func(*scheduler) error { watched = true; return nil })
	if err := option(&scheduler{}); err != errGuard || watched {
		t.Errorf("got %v; the monitor is set: %v", err, watched)
	}
}
