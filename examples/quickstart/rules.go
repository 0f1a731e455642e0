package main

import (
	"time"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// The jobs as which the replicas, leader-observer and the store are scraped.
const (
	jobName     = "quickstart"
	outsideName = "leader-observer"
	storeName   = "store"
)

// keyID names the key of the label hashes.
const keyID = "demo"

var (
	lockLabel     = catalog.LockName.Name()
	severityLabel = alerts.Default().SeverityLabel
)

// demoAlerts are the generated rules with everything about forty times
// faster: windows of minutes become seconds. What is counted in them and not
// in time, such as the errors of one etcd election, grows in proportion, and
// so do the thresholds for it.
func demoAlerts() alerts.Config {
	c := alerts.Default()
	c.ScrapeInterval = seconds(1)
	c.Group.Interval = seconds(1)
	a := &c.Alerts

	// Longer than the demo's outage.
	a.NoAcquisition.Window, a.NoAcquisition.For, a.NoAcquisition.KeepFiringFor = seconds(60), seconds(8), seconds(3)

	// A failover takes the lease, an etcd election and an election timeout
	// that etcd adds to all leases: up to two more leases here.
	a.NoLeader.Margin, a.NoLeader.DownFor, a.NoLeader.RefusedFor, a.NoLeader.Lookback = seconds(4), seconds(8), seconds(30), seconds(60)
	a.NoLeader.Critical.For, a.NoLeader.Warning.For, a.NoLeader.Interval = seconds(5), seconds(20), 0

	a.SplitBrain.Window = seconds(3)
	a.SplitBrain.For, a.SplitBrain.KeepFiringFor = seconds(2), seconds(3)

	a.Overlap.Window, a.Overlap.KeepFiringFor = seconds(30), seconds(3)

	a.Flapping.Window, a.Flapping.For, a.Flapping.KeepFiringFor, a.Flapping.Interval = seconds(30), seconds(2), seconds(3), 0

	// Minutes suffice to see a lock move too often.
	a.Flapping.Slow.Enabled = false
	// It tells of an overlap once the terms have ended: of the split brain in the
	// middle of another phase.
	a.Overlap.Enabled = false
	// What leader-observer sees, where it runs.
	a.Vacant.For, a.Vacant.Lookback = seconds(3), seconds(60)
	a.Impostor.For, a.Impostor.KeepFiringFor, a.Impostor.Lookback = seconds(3), seconds(3), seconds(60)
	// It takes an answer for current for a quarter of a minute: the outage is over
	// sooner on a fast machine, and later on a slow one.
	a.ObserverBlind.Enabled = false
	a.NoStandby.For, a.NoStandby.Lookback, a.NoStandby.Interval = seconds(20), seconds(60), 0
	a.AttemptStuck.Patience, a.AttemptStuck.Lookback, a.AttemptStuck.Interval = seconds(60), seconds(120), 0

	// An etcd election is an outage of two seconds, which the job meets: few
	// errors. In a long outage each replica meets one every four seconds, all
	// of them perhaps at once.
	b := &a.BackendErrors
	b.Window, b.Recent, b.Since, b.Vacant, b.MinErrors = seconds(20), seconds(12), seconds(2), seconds(2), 6
	b.Critical.For, b.Critical.KeepFiringFor, b.Warning.For = seconds(4), seconds(3), seconds(8)

	// The leader gives up after four seconds without a renewal.
	r := &a.RenewalFailures
	r.Window, r.Recent, r.For, r.KeepFiringFor, r.Interval = seconds(20), seconds(3), seconds(6), seconds(3), 0

	a.NearLease.Window, a.NearLease.KeepFiringFor, a.NearLease.Interval = seconds(10), seconds(3), 0
	// Long enough for a sample before and one after a suspension.
	a.LeaseExceeded.Window, a.LeaseExceeded.KeepFiringFor = seconds(20), seconds(3)
	// A fifth of the job's lease is less than a second; only a lease that has
	// ended is seen three times.
	a.LowHeadroom.For, a.LowHeadroom.KeepFiringFor = seconds(2), seconds(3)
	a.WorkAfterLoss.Window, a.WorkAfterLoss.KeepFiringFor = seconds(20), seconds(3)
	a.WorkAfterLoss.Tolerance = seconds(1)

	// The lock of a job that is killed stays taken for up to three leases.
	j := &a.JobOverdue
	j.Grace, j.For, j.Lookback, j.Interval = seconds(15), seconds(1), seconds(300), 0
	a.TaskFailing.Window, a.TaskFailing.KeepFiringFor, a.TaskFailing.Interval = seconds(10), seconds(3), 0
	a.TokenRegressed.Window, a.TokenRegressed.KeepFiringFor = seconds(20), seconds(3)
	a.StaleWrite.Window, a.StaleWrite.KeepFiringFor = seconds(20), seconds(3)

	// Longer than a replica is down or suspended here.
	m := &a.MetricsAbsent
	m.Critical.For, m.Critical.Lookback = seconds(20), seconds(60)
	m.Warning.For, m.Warning.Lookback = seconds(20), seconds(60)
	a.LockVanished.For, a.LockVanished.Lookback, a.LockVanished.Interval = seconds(20), seconds(60), 0
	a.ScrapeFailing.For, a.ScrapeFailing.KeepFiringFor, a.ScrapeFailing.Lookback = seconds(30), seconds(3), seconds(60)
	a.RedactionKeyMismatch.For, a.RedactionKeyMismatch.KeepFiringFor = seconds(20), seconds(3)
	a.LabelOverflow.Window, a.LabelOverflow.For = seconds(20), seconds(5)
	return c
}

func seconds(n int) model.Duration { return model.Duration(time.Duration(n) * time.Second) }
