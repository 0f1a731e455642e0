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
		detections[d.name](&d)
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

// detections has every alert.
var detections = map[string]func(*detector){
	"NoAcquisition": func(d *detector) {
		k, window := d.Alerts.NoAcquisition, time.Duration(d.Alerts.NoAcquisition.Window)
		d.timed(k.Firing, "the end of the last run or term", window-d.scrape, window, shorter)
	},
	"NoLeader": func(d *detector) { d.noLeader(&d.Alerts.NoLeader) },
	"SplitBrain": func(d *detector) {
		k := d.Alerts.SplitBrain
		tolerance := time.Duration(k.Tolerance)
		d.level(k.Firing, "the second win", tolerance, tolerance, "overlaps shorter than SOONEST: see Overlap; replicas without a holder label of their own; pushed metrics for less than "+(k.Window+k.For).String())
	},
	"Overlap": func(d *detector) {
		d.every(d.Alerts.Overlap.Interval, d.Alerts.Overlap.Firing, "the end of the overlap", 0, d.scrape,
			fmt.Sprintf("overlaps of at most %s; overlaps whose loser dies before its next scrape; all overlaps while the clock skew exceeds %[1]s", d.Alerts.Overlap.Tolerance))
	},
	"Flapping": func(d *detector) {
		k := d.Alerts.Flapping
		d.every(k.Interval, k.Firing, fmt.Sprintf("the %s win within %s", ordinal(k.Handovers+1), k.Window), 0, d.scrape, "terms without a sample, if several end between two scrapes")
		d.every(k.Slow.Interval, k.Slow.Firing, fmt.Sprintf("the %s win within %s", ordinal(k.Slow.Handovers+1), k.Slow.Window), 0, d.scrape, "terms without a sample")
	},
	"BackendErrors":   func(d *detector) { d.backendErrors(&d.Alerts.BackendErrors) },
	"RenewalFailures": func(d *detector) { d.renewalFailures(&d.Alerts.RenewalFailures) },
	"NearLease": func(d *detector) {
		d.every(d.Alerts.NearLease.Interval, d.Alerts.NearLease.Firing, "the late renewal or release", 0, d.scrape, dies)
	},
	"LeaseExceeded": func(d *detector) {
		d.level(d.Alerts.LeaseExceeded.Firing, "the end of the lease", 0, 0, dies+"; leases whose end is unknown")
	},
	"LowHeadroom": func(d *detector) {
		d.level(d.Alerts.LowHeadroom.Firing, "the time at which the share of the lease is left", 0, 0, shorter+"; leases whose end is unknown")
	},
	"WorkAfterLoss": func(d *detector) {
		d.level(d.Alerts.WorkAfterLoss.Firing, "the end of the tolerated time after the loss", 0, 0, dies)
	},
	"JobOverdue": func(d *detector) {
		k := d.Alerts.JobOverdue
		d.every(k.Interval, k.Firing, fmt.Sprintf("%v declared intervals after the last acquisition", k.Intervals), time.Duration(k.Grace), time.Duration(k.Grace),
			"jobs that declare no interval, or one longer than the lookback allows")
	},
	"TaskFailing": func(d *detector) {
		d.every(d.Alerts.TaskFailing.Interval, d.Alerts.TaskFailing.Firing, "the failed run that exceeds the threshold", 0, d.scrape, dies)
	},
	"TokenRegressed": func(d *detector) {
		d.level(d.Alerts.TokenRegressed.Firing, "the win with the lower token", 0, 0, "backends without tokens; replicas that never had the higher token")
	},
	"StaleWrite": func(d *detector) {
		d.level(d.Alerts.StaleWrite.Firing, "the write that was refused", 0, 0, dies+"; writes that do not pass a guard")
	},
	"NoStandby": func(d *detector) {
		k := d.Alerts.NoStandby
		d.every(k.Interval, k.Firing, "the exit of the last other candidate", 0, d.scrape, "locks that never had another candidate; candidates that run but hang")
	},
	"AttemptStuck": func(d *detector) {
		k := d.Alerts.AttemptStuck
		d.every(k.Interval, k.Firing, "the start of the attempt, if runs are usually shorter", time.Duration(k.Patience), time.Duration(k.Patience)+d.scrape, "standbys of a held lock")
	},
	"Vacant": func(d *detector) {
		d.level(d.Alerts.Vacant.Firing, "the end of the lease or session", 0, 0, shorter+"; changes between two polls of a backend that is polled")
	},
	"Impostor": func(d *detector) {
		d.level(d.Alerts.Impostor.Firing, "the win of the other process, or of the impostor if that is later", 0, 0, shorter+"; processes that do not export their identity")
	},
	"ObserverBlind": func(d *detector) {
		d.level(d.Alerts.ObserverBlind.Firing, "the last answer of the backend, or the last scrape of the observer", 0, 0, shorter)
	},
	"MetricsAbsent": func(d *detector) {
		k := d.Alerts.MetricsAbsent
		d.level(k.Critical.Firing, "the loss of the last target", 0, 0, "jobs without any sample")
		d.level(k.Warning.Firing, "the loss of the last target", 0, 0, "jobs without any sample; processes that live for seconds")
	},
	"LockVanished": func(d *detector) {
		d.every(d.Alerts.LockVanished.Interval, d.Alerts.LockVanished.Firing, "the end of the last series", 0, d.scrape, "locks that were released before and declare no interval")
	},
	"ScrapeFailing": func(d *detector) {
		d.level(d.Alerts.ScrapeFailing.Firing, "the first scrape that fails", 0, 0, shorter+"; push pipelines")
	},
	"RedactionKeyMismatch": func(d *detector) {
		d.level(d.Alerts.RedactionKeyMismatch.Firing, "the start of the replica with the other key", 0, 0, shorter)
	},
	"LabelOverflow": func(d *detector) {
		d.level(d.Alerts.LabelOverflow.Firing, "the first name beyond the limit", 0, 0, dies)
	},
}

const dies = "events that a process did not export before it died"

// noLeader depends on the state of the last holder, and on what the backend tells
// the other replicas.
func (d *detector) noLeader(k *NoLeader) {
	margin, down, refused := time.Duration(k.Margin), time.Duration(k.DownFor), time.Duration(k.RefusedFor)
	const erring = ", while attempts meet backend errors"
	d.level(k.Critical, "the end of the term, while its holder is scraped"+erring, 0, 0, shorter)
	// The last scraped lease end may lack the renewals since then.
	missed := d.lease
	if renewal := d.lease / 3; renewal > 0 {
		missed = (d.scrape + renewal - 1) / renewal * renewal
	}
	d.timed(k.Critical, "the end of the lease, if the last holder and its target are gone"+erring, margin-missed, max(margin, d.scrape), shorter)
	d.timed(k.Critical, "the death of the last holder, if its target is down"+erring, max(d.lease*2/3+margin-d.scrape, 0), max(d.lease+margin, d.scrape), shorter)
	fresh := time.Duration(d.fresh())
	d.timed(k.Critical, "the end of the term, while its holder is scraped", fresh, max(fresh, d.scrape), shorter)
	d.timed(k.Critical, "the death of the last holder, if its target is down", max(down, d.lease*2/3+margin)-d.scrape, max(down, d.lease+margin),
		"whether a leader that is not scraped for longer than "+k.DownFor.String()+" is dead, while no other replica campaigns")
	d.timed(k.Critical, "the same, while the backend tells another replica that the lock is held", refused-d.scrape, refused, shorter)
	d.every(k.Interval, k.Warning, "the death of the last holder, while its lease or its target explains the absence", 0, d.scrape, shorter)
}

// backendErrors: the warning depends on a share of attempts. If attempts stay as
// frequent as before, an outage has to last for that share of the window.
func (d *detector) backendErrors(k *BackendErrors) {
	vacant, fills := time.Duration(k.Vacant), time.Duration(k.Warning.Share*float64(k.Window))
	d.timed(k.Critical.Firing, "the end of the lease during an outage, or the first failed attempt of most replicas if that is later", max(vacant-d.scrape, 0), max(vacant, d.scrape), "outages while a replica leads: see the warning")
	d.level(k.Warning.Firing, "the first failed attempt", 0, fills, fmt.Sprintf("fewer than %d errors", k.MinErrors))
}

func (d *detector) renewalFailures(k *RenewalFailures) {
	d.every(k.Interval, k.Firing, "the failed renewal that exceeds the share", 0, d.scrape, fmt.Sprintf("fewer than %d failures; libraries that hide their renewals; leases that end first", k.MinFailures))
}

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
