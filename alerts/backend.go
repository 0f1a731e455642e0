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

	summary := "Attempts to acquire lock " + b.lock() + " meet backend errors"
	description := fmt.Sprintf("{{ $value | humanizePercentage }} of the attempts to acquire lock %s%s in %s met a backend error.%s",
		b.lock(), b.where(), window, b.affected(window))
	return []draft{{
		name: "BackendErrors", firing: k.Critical.Firing, expr: query.Op(above(share, k.Critical.Share), "unless", led), panel: panel.BackendErrors,
		summary: summary, description: description + " Nobody leads.",
	}, {
		name: "BackendErrors", firing: k.Warning.Firing, expr: above(share, k.Warning.Share), panel: panel.BackendErrors,
		summary: summary, description: description,
	}}
}

// affected lists up to three replicas with errors, and how many there are.
// The labels of replicas stay out of the alert's identity (C40).
func (b builder) affected(window string) string {
	reason, _ := catalog.NotAcquired.Label("reason")
	failed := b.scope.Metric(catalog.NotAcquired, query.Equal(reason.Name, catalog.BackendError.String()))
	return b.withQuery(fmt.Sprintf("topk(3, sum by (%s) (increase(%s[%s])) > 0)", b.HolderLabel, "%s", window), failed,
		fmt.Sprintf(` Most of them on:{{ range . }} {{ label "%s" . }}{{ end }}.`, b.HolderLabel))
}
