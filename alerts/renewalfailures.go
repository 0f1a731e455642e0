package alerts

import (
	"fmt"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// RenewalFailures: renewals of a lease fail while the lease is still held.
type RenewalFailures struct {
	Firing `yaml:",inline"`
	Window model.Duration `yaml:"window" help:"lookback window for renewals"`
	// Recent is the time within which the last failure must lie.
	Recent model.Duration `yaml:"recent" help:"the last failure must be younger than this"`
	// MinFailures is the least number of failures in the window.
	MinFailures int `yaml:"minFailures" help:"minimum number of failures in the window"`
	// Share of renewals, from 0 to 1, above which the alert fires.
	Share float64 `yaml:"share" help:"share of renewals, 0 to 1, above which it fires"`
	// Interval is the time between evaluations; 0 uses that of the group.
	Interval model.Duration `yaml:"interval" help:"time between evaluations, in a group of its own; 0s uses that of the group"`
}

func (*RenewalFailures) about() about {
	return about{
		Condition: condition.RenewalFailures, id: "F",
		fires: "too many renewals of a lease fail, and the failures continue",
		note:  "Renewals of a lease fail with an error, or exceed their deadline.",
	}
}

// The hold is longer than recent: an outage of less than a minute, which a
// lease outlives or not, is no trend.
func (k *RenewalFailures) preset() {
	*k = RenewalFailures{Firing: fires(warning, 4, 5), Window: minutes(10), Recent: minutes(3), MinFailures: 3, Share: 0.1, Interval: slowInterval}
}

func (k *RenewalFailures) validate(c check) {
	c.windowed(k.Window, k.Firing)
	c.holdsSamples("recent", k.Recent, k.Enabled)
	c.require(!k.Enabled || k.Recent <= k.Window, "recent", "%s is longer than the window of %s; make it shorter", k.Recent, k.Window)
	c.interval(k.Interval, k.Window, k.Enabled)
	c.atLeastOne("minFailures", k.MinFailures, k.Enabled)
	c.share("share", "renewals", k.Share, k.Enabled)
}

func (k *RenewalFailures) rules(b builder) []draft {
	s, window := b.scope, k.Window.String()

	failed := s.Metric(catalog.Renewals, query.FailedRenewal())
	// One failure among few renewals is a large share (F2).
	expr := query.Op(s.FailedRenewalShare(window, atLeast(k.MinFailures)), ">", query.Number(k.Share))
	// A short outage leaves its share in the window long after it is over (C45).
	expr = s.Of(expr, query.Op(query.Over("increase", failed, k.Recent.String()), ">", "0"))

	return []draft{draft{
		firing: k.Firing, expr: expr,
		summary: "Renewals of lock " + b.lock() + " fail",
		description: fmt.Sprintf("{{ $value | humanizePercentage }} of the renewals of lock %s%s failed in the last %s, and renewals still fail: the lock is lost if its lease expires before a renewal succeeds. "+
			"Check the backend and the connections to it.%s", b.lock(), b.where(), window,
			b.replicas("Most affected replicas", fmt.Sprintf("sum by (%s) (increase(%%s[%s])) > 0", b.HolderLabel, window), failed)),
	}.every("", k.Interval)}
}

func (k *RenewalFailures) detect(d *detector) {
	d.every(k.Interval, k.Firing, "the failed renewal that exceeds the share", 0, d.scrape, fmt.Sprintf("fewer than %d failures; libraries that hide their renewals; leases that end first", k.MinFailures))
}
