package alerts

import (
	"fmt"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

func backendErrors(b builder) []draft {
	k, s := b.Alerts.BackendErrors, b.scope
	window := k.Window.String()

	// Only backend_error counts: contention is the normal answer (E4), a
	// canceled attempt is a shutdown (C12), a timeout is the caller's limit.
	share := s.BackendErrorShare(window)
	// One error among few attempts is a large share (E2).
	enough := query.Op(s.BackendErrors(window), ">", atLeast(k.MinErrors))
	// A short outage leaves its share in the window long after it is over (C45).
	goingOn := query.Op(s.BackendErrors(k.Recent.String()), ">", "0")
	above := func(share query.Expr, threshold float64) query.Expr {
		return query.Op(query.Op(query.Op(share, ">", query.Number(threshold)), "and", enough), "and", goingOn)
	}
	// One replica that cannot reach the backend, while a leader with a live
	// lease can, is a loss of redundancy and no outage (C45).
	led := query.Op(s.By("max", s.Metric(catalog.Active)), ">", "0")

	reason, _ := catalog.NotAcquired.Label("reason")
	failed := s.Metric(catalog.NotAcquired, query.Equal(reason.Name(), catalog.BackendError.String()))
	replicas := b.replicas("Most of them on", fmt.Sprintf("sum by (%s) (increase(%%s[%s])) > 0", b.HolderLabel, window), failed)
	summary := "Attempts to acquire lock " + b.lock() + " meet backend errors"
	description := fmt.Sprintf("{{ $value | humanizePercentage }} of the attempts to acquire lock %s%s met a backend error in the last %s.%s",
		b.lock(), b.where(), window, replicas)
	return []draft{{
		name: "BackendErrors", firing: k.Critical.Firing, expr: query.Op(above(share, k.Critical.Share), "unless", led), panel: panel.BackendErrors,
		summary: summary, description: description + " Nobody leads.",
	}, {
		name: "BackendErrors", firing: k.Warning.Firing, expr: above(share, k.Warning.Share), panel: panel.BackendErrors,
		summary: summary, description: description,
	}}
}
