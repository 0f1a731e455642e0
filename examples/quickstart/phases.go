package main

import (
	"context"
	"fmt"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// phase is one fault, and exactly the alerts that it must cause.
type phase struct {
	title string
	// expect are the alerts that must fire; nothing else may.
	expect []alarm
	// outside are those that leader-observer makes possible, where it runs.
	outside []alarm
	// act brings the fault about and returns what was seen besides alerts.
	act func(context.Context, *demo) ([]check, error)
	// lasts is how long the fault continues after its alerts have fired here:
	// any other server that scrapes the replicas sees a fault a few samples
	// later.
	lasts time.Duration
	// cure takes the fault away. It is nil when the next phase is the recovery;
	// otherwise is the cure when that is not played.
	cure, otherwise func(context.Context, *demo) error
	// recovery is of the phase before, and needs its fault.
	recovery bool
	// takes is how long the phase takes on a machine with little load.
	takes time.Duration
}

// check is something that a phase looked at besides alerts.
type check struct {
	text string
	ok   bool
}

func seen(format string, args ...any) check {
	return check{text: fmt.Sprintf(format, args...), ok: true}
}

// script returns the phases. leader and job are the labels of the locks.
func script(leader, job string) []phase {
	page := func(name, lock string) alarm { return alarm{prefix + name, "critical", lock} }
	warn := func(name, lock string) alarm { return alarm{prefix + name, "warning", lock} }
	return []phase{
		{title: "Three healthy replicas", act: healthy, cure: nothing, takes: 6 * time.Second},
		{title: "The leader is killed (kill -9), and started again later", act: killLeader, cure: nothing, takes: 10 * time.Second},
		{title: "The leader is suspended past its lease, and continues",
			// The job rests meanwhile.
			expect: []alarm{warn("JobOverdue", job), page("LeaseExceeded", leader), warn("StaleWrite", leader), page("WorkAfterLoss", leader)},
			act:    suspendLeader, cure: usualJobs, takes: 32 * time.Second},
		{title: "The job takes 84 % of its lease",
			expect: []alarm{warn("NearLease", job)},
			act:    jobTakes(0.84), cure: usualJobs, takes: 17 * time.Second},
		{title: "The job takes twice its lease",
			expect: []alarm{page("LeaseExceeded", job), warn("LowHeadroom", job), warn("NearLease", job), page("WorkAfterLoss", job)},
			act:    jobTakes(2), cure: usualJobs, takes: 39 * time.Second},
		{title: "A fourth replica is configured with another etcd",
			expect: []alarm{page("SplitBrain", leader)}, outside: []alarm{page("Impostor", leader)},
			act: addStray, lasts: othersSee, cure: removeStray, takes: 15 * time.Second},
		{title: "Two of three etcd members stop",
			expect: []alarm{
				page("BackendErrors", job), warn("BackendErrors", job), warn("JobOverdue", job),
				page("BackendErrors", leader), warn("BackendErrors", leader), page("NoLeader", leader),
			},
			act: stopMembers, lasts: othersSee, otherwise: membersBack, takes: 27 * time.Second},
		{title: "The etcd members are back", act: startMembers, cure: nothing, recovery: true, takes: 12 * time.Second},
		{title: "The leader is killed, and no other replica campaigns",
			expect: []alarm{page("NoLeader", leader)}, outside: []alarm{page("Vacant", leader)},
			act: loseLeader, cure: campaignAgain, takes: 15 * time.Second},
		{title: "Rolling restart: no alert may fire", act: rollingRestart, cure: nothing, takes: 25 * time.Second},
		{title: "The job fails each time",
			expect: []alarm{warn("TaskFailing", job)},
			act:    jobFails, cure: usualJobs, takes: 20 * time.Second},
		{title: "The service is scaled to zero, and back to three",
			expect: []alarm{page("MetricsAbsent", ""), warn("MetricsAbsent", ""), warn("JobOverdue", job)},
			act:    scaleToZero, lasts: othersSee, cure: scaleUp, takes: 50 * time.Second},
	}
}

// othersSee is a scrape, an evaluation and the delay of vmalert later.
const othersSee = 6 * time.Second

func nothing(context.Context, *demo) error { return nil }

func usualJobs(_ context.Context, d *demo) error {
	d.cluster.tell(d.cluster.names(), "job %v", usualShare)
	return nil
}

func healthy(ctx context.Context, d *demo) ([]check, error) {
	leader, err := d.onlyLeader(ctx, "")
	if err != nil {
		return nil, err
	}
	ran := fmt.Sprintf("sum(%s{%s=%q}) >= 3", catalog.Acquired.Name(), lockLabel, d.job)
	err = until(ctx, "three runs of the job", patience, func() (bool, error) {
		runs, err := d.observer.query(ctx, ran)
		return len(runs) > 0, err
	})
	return []check{seen("%s leads, the job has run three times", leader)}, err
}

func killLeader(ctx context.Context, d *demo) ([]check, error) {
	if err := d.settled(ctx); err != nil {
		return nil, err
	}
	leader, err := d.onlyLeader(ctx, "")
	if err != nil {
		return nil, err
	}
	killed := time.Now()
	if err := d.cluster.kill(leader); err != nil {
		return nil, err
	}
	next, err := d.onlyLeader(ctx, leader)
	if err != nil {
		return nil, err
	}
	gap := time.Since(killed)
	if err := d.cluster.start(leader); err != nil {
		return nil, err
	}
	return []check{seen("%s was killed, %s leads after %.1f s", leader, next, gap.Seconds())}, d.allUp(ctx)
}

func suspendLeader(ctx context.Context, d *demo) ([]check, error) {
	// A job that is suspended with the leader would be a fault of its own.
	if err := d.jobsRest(ctx); err != nil {
		return nil, err
	}
	leader, err := d.onlyLeader(ctx, "")
	if err != nil {
		return nil, err
	}
	writes, err := d.beforeLateWrite(ctx, leader)
	if err != nil {
		return nil, err
	}
	suspended := time.Now()
	if err := d.cluster.pause(leader); err != nil {
		return nil, err
	}
	next, err := d.onlyLeader(ctx, leader)
	if err != nil {
		return nil, err
	}
	// Until then the store does not know of the term, and would admit the late
	// write.
	if err := writes.ofNextTerm(ctx, d); err != nil {
		return nil, err
	}
	// The work after loss counts from the lease end; it must be worth a page.
	worth := suspended.Add(leaderLease + 2*time.Duration(demoAlerts().Alerts.WorkAfterLoss.Tolerance))
	if !wait(ctx, time.Until(worth)) {
		return nil, context.Cause(ctx)
	}
	if err := d.cluster.resume(leader); err != nil {
		return nil, err
	}
	slept := time.Since(suspended)
	zero, err := d.exposes(ctx, leader, catalog.Active, d.leader, "0")
	if err != nil {
		return nil, err
	}
	refused, err := writes.refused(ctx, d)
	if err != nil {
		return nil, err
	}
	return append([]check{
		seen("%s was suspended for %.1f s, %s leads", leader, slept.Seconds(), next),
		{fmt.Sprintf("the first scrape of %s after that shows %s 0", leader, catalog.Active.Name()), zero},
	}, refused...), d.allUp(ctx)
}

func jobTakes(share float64) func(context.Context, *demo) ([]check, error) {
	return func(_ context.Context, d *demo) ([]check, error) {
		d.cluster.tell(d.cluster.names(), "job %v", share)
		return nil, nil
	}
}

const stray = "replica-4"

func addStray(ctx context.Context, d *demo) ([]check, error) {
	if err := d.cluster.add(d.key, "", stray); err != nil {
		return nil, err
	}
	d.cluster.history.begin(stray, isAnother)
	if err := d.scrape(d.cluster.addresses()); err != nil {
		return nil, err
	}
	err := until(ctx, "a second leader", patience, func() (bool, error) {
		names, err := d.leads(ctx)
		return len(names) == 2, err
	})
	return []check{seen("%s leads too", stray)}, err
}

func removeStray(_ context.Context, d *demo) error {
	if err := d.cluster.remove(stray); err != nil {
		return err
	}
	d.cluster.history.end(stray, isAnother)
	return d.scrape(d.cluster.addresses())
}

// stopMembers leaves the leader its member, without a quorum: nothing tells
// it of its loss but its own lease.
func stopMembers(ctx context.Context, d *demo) ([]check, error) {
	leader, err := d.onlyLeader(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, name := range d.cluster.names() {
		if name != leader {
			d.cluster.tell([]string{name}, "member stop")
		}
	}
	cut := time.Now()
	err = until(ctx, "the leader to give up", patience, func() (bool, error) {
		names, err := d.leads(ctx)
		return len(names) == 0, err
	})
	return []check{seen("%s stopped leading after %.1f s", leader, time.Since(cut).Seconds())}, err
}

func startMembers(ctx context.Context, d *demo) ([]check, error) {
	started := time.Now()
	d.cluster.tell(d.cluster.names(), "member start")
	leader, err := d.onlyLeader(ctx, "")
	return []check{seen("%s leads after %.1f s", leader, time.Since(started).Seconds())}, err
}

func membersBack(ctx context.Context, d *demo) error {
	_, err := startMembers(ctx, d)
	return err
}

// loseLeader leaves no candidate. Of the leader, whose target stays, its own
// series say only that it led: it may lead on, unseen. That the lock is free is
// known from outside alone.
func loseLeader(ctx context.Context, d *demo) ([]check, error) {
	if err := d.settled(ctx); err != nil {
		return nil, err
	}
	leader, err := d.onlyLeader(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, name := range d.cluster.names() {
		if name != leader {
			d.cluster.tell([]string{name}, "campaign off")
		}
	}
	waiting := fmt.Sprintf("sum(%s{%s=%q}) == 0", catalog.Pending.Name(), lockLabel, d.leader)
	err = until(ctx, "the other replicas to leave the election", patience, func() (bool, error) {
		none, err := d.observer.query(ctx, waiting)
		return len(none) == 1, err
	})
	if err != nil {
		return nil, err
	}
	killed := time.Now()
	if err := d.cluster.kill(leader); err != nil || d.outside == nil {
		return []check{seen("%s was killed", leader)}, err
	}
	free := fmt.Sprintf("max(%s{%s=%q}) == 0", catalog.BackendHeld.Name(), lockLabel, d.leader)
	err = until(ctx, "leader-observer to see that the lock is free", patience, func() (bool, error) {
		found, err := d.observer.query(ctx, free)
		return len(found) == 1, err
	})
	return []check{seen("%s was killed, etcd names no holder after %.1f s", leader, time.Since(killed).Seconds())}, err
}

func campaignAgain(ctx context.Context, d *demo) error {
	for _, name := range d.cluster.names() {
		if d.cluster.state(name) == "killed" {
			if err := d.cluster.start(name); err != nil {
				return err
			}
		} else {
			d.cluster.tell([]string{name}, "campaign on")
		}
	}
	return d.allUp(ctx)
}
