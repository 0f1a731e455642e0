package alerts

import (
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// Detection is how soon an alert fires for what it is about, by formula: test
// programs hold it against simulated services.
type Detection struct {
	// Alert lacks [Prefix].
	Alert, Severity string
	// From is the instant that the times count from.
	From string
	// Soonest and Latest are when the alert begins to fire.
	Soonest, Latest time.Duration
	// Unseen is what the alert does not detect.
	Unseen string
}

// Pace is what detection depends on beside the configuration.
type Pace struct {
	// Evaluation is the time between evaluations of the group, where the
	// configuration leaves it to the server; 0: as often as the scrape.
	Evaluation time.Duration
	// Lease is the length of the lease; holders renew after a third of it.
	Lease time.Duration
}

// Detect returns for each enabled rule how soon it fires at best and at worst,
// and what it does not detect, in the order of the rules. The error is that of
// [Config.Validate].
func Detect(c Config, p Pace) ([]Detection, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	d := detector{Config: c, scrape: time.Duration(c.ScrapeInterval), lease: p.Lease}
	d.evaluation = p.Evaluation
	if c.Group.Interval != 0 {
		d.evaluation = time.Duration(c.Group.Interval)
	}
	if d.evaluation <= 0 {
		d.evaluation = d.scrape
	}
	c.Alerts.each(func(_ string, a alert) {
		d.name = a.about().Alert
		a.detect(&d)
	})
	return d.out, nil
}

// detector collects what is known of each rule.
type detector struct {
	Config
	scrape, evaluation, lease time.Duration
	name                      string
	out                       []Detection
}

// level adds a rule whose condition becomes true between soonest and latest after
// an instant and is read from samples: the next scrape shows it, the next
// evaluation detects it, and for counts in whole evaluations.
func (d *detector) level(f Firing, from string, soonest, latest time.Duration, unseen string) {
	d.every(0, f, from, soonest, latest+d.scrape, unseen)
}

// timed adds a rule whose condition becomes true with time, without a new sample.
func (d *detector) timed(f Firing, from string, soonest, latest time.Duration, unseen string) {
	d.every(0, f, from, soonest, latest, unseen)
}

// every is timed for a rule with an interval of its own.
func (d *detector) every(interval model.Duration, f Firing, from string, soonest, latest time.Duration, unseen string) {
	if !f.Enabled {
		return
	}
	step := d.evaluation
	if interval != 0 {
		step = time.Duration(interval)
	}
	hold := (time.Duration(f.For) + step - 1) / step * step
	d.out = append(d.out, Detection{
		Alert: d.name, Severity: f.Severity, From: from, Soonest: max(soonest+hold, 0), Latest: latest + step + hold,
		Unseen: strings.ReplaceAll(unseen, "SOONEST", model.Duration(max(soonest+hold, 0)).String()),
	})
}

const shorter = "conditions that last less than SOONEST, and some that last less than the latest time"

const dies = "events that a process did not export before it died"

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}
