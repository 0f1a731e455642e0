package alerts

import (
	"fmt"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

func renewalFailures(b builder) []draft {
	k, s := b.Alerts.RenewalFailures, b.scope
	window := k.Window.String()

	expr := query.Op(s.FailedRenewalShare(window), ">", query.Number(k.Share))
	// One failure among few renewals is a large share (F2).
	expr = query.Op(expr, "and", query.Op(s.FailedRenewals(window), ">", atLeast(k.MinFailures)))
	// A short outage leaves its share in the window long after it is over (C45).
	expr = query.Op(expr, "and", query.Op(s.FailedRenewals(k.Recent.String()), ">", "0"))

	failed := s.Metric(catalog.Renewals, query.FailedRenewal())
	return []draft{{
		name: "RenewalFailures", firing: k.Firing, expr: expr, panel: panel.Renewals,
		summary: "Renewals of lock " + b.lock() + " fail",
		description: fmt.Sprintf("{{ $value | humanizePercentage }} of the renewals of lock %s%s failed in the last %s, and still do. "+
			"When the lease ends before one succeeds, the lock is lost.%s", b.lock(), b.where(), window,
			b.replicas("Most of them on", fmt.Sprintf("sum by (%s) (increase(%%s[%s])) > 0", b.HolderLabel, window), failed)),
	}}
}
