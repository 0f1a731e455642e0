package alerts

import (
	"fmt"
	"time"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// BackendErrors: too many attempts meet a backend error.
type BackendErrors struct {
	// Window is the lookback window of the warning.
	Window model.Duration `yaml:"window" help:"lookback window of the warning"`
	// Recent is the lookback window of the critical alert. For the warning, the last
	// error must be within it, so that the alert clears after an outage.
	Recent model.Duration `yaml:"recent" help:"lookback window of the critical alert; the last error must lie within it"`
	// Since is how long ago MinErrors errors must already have been counted before
	// the critical alert fires, for locks around single runs.
	Since model.Duration `yaml:"since" help:"for locks around single runs, the critical alert requires minErrors errors already this long ago"`
	// Vacant is how long the critical alert waits after the last sample in which
	// a replica led.
	Vacant model.Duration `yaml:"vacant" help:"the critical alert fires this long after the last sample in which a replica led"`
	// MinErrors is the minimum number of errors. For a lock that should be held and
	// is not, one is enough.
	MinErrors int `yaml:"minErrors" help:"minimum number of errors; one is enough for a lock that should be held and is not"`
	// Critical fires only while no replica leads.
	Critical ErrorShare `yaml:"critical" help:"Fires only while no replica leads."`
	Warning  ErrorShare `yaml:"warning" help:"Fires whether or not a replica leads."`
}

// ErrorShare is one severity of BackendErrors.
type ErrorShare struct {
	Firing `yaml:",inline"`
	// Share of attempts, from 0 to 1, above which the alert fires.
	Share float64 `yaml:"share" help:"share of attempts, 0 to 1, above which it fires"`
}

func (*BackendErrors) about() about {
	return about{
		Condition: condition.BackendErrors, id: "E",
		fires: "too many attempts meet backend errors, and the errors continue; critical while no replica leads",
		note:  "Attempts meet backend errors.",
	}
}

func (k *BackendErrors) preset() {
	*k = BackendErrors{
		Window: minutes(10), Recent: minutes(3), Since: minutes(1), Vacant: span(45), MinErrors: 3,
		// Earlier than NoLeader, so that its page is muted (E6).
		Critical: ErrorShare{Firing: fires(critical, 0, 2), Share: 0.5},
		Warning:  ErrorShare{Firing: fires(warning, 5, 0), Share: 0.1},
	}
}

func (k *BackendErrors) validate(c check) {
	for key, s := range map[string]ErrorShare{"critical": k.Critical, "warning": k.Warning} {
		c.firing(key, s.Firing)
		c.share(key+".share", "attempts", s.Share, s.Enabled)
	}
	c.holdFits("critical", k.Recent, k.Critical.Firing)
	c.holdFits("warning", k.Window, k.Warning.Firing)
	c.distinct("warning", k.Critical.Firing, k.Warning.Firing)
	either := k.Critical.Enabled || k.Warning.Enabled
	c.holdsSamples("window", k.Window, either)
	c.holdsSamples("recent", k.Recent, either)
	c.require(!either || k.Recent <= k.Window, "recent", "%s is longer than the window of %s; make it shorter", k.Recent, k.Window)
	c.require(!k.Critical.Enabled || k.Vacant > 0, "vacant", "%s leaves a handover no time; use the time between two samples and a half", k.Vacant)
	c.require(!k.Critical.Enabled || k.Since >= 0 && 2*k.Since <= k.Recent, "since", "%s is longer than half of recent, which is %s, or negative; use at most %s", k.Since, k.Recent, half(k.Recent))
	c.atLeastOne("minErrors", k.MinErrors, either)
}

func (k *BackendErrors) rules(b builder) []draft {
	s, window, recent := b.scope, k.Window.String(), k.Recent.String()
	reason, _ := catalog.NotAcquired.Label("reason")
	failed := s.Metric(catalog.NotAcquired, query.Equal(reason.Name(), catalog.BackendError.String()))

	// Only backend_error counts: contention is the normal answer (E4), a
	// canceled attempt is a shutdown (C12), a timeout is the caller's limit.
	// One error among few attempts is a large share (E2), and a few errors in a
	// row may be over with the next run (C01).
	// Replicas without errors are left out before the sum.
	met := query.Op(s.By("sum", query.Op(query.OverAgo("increase", failed, recent, k.Since.String()), ">", "0")), ">", atLeast(k.MinErrors))
	// For a lock that should be held, replicas count, not attempts: the answers that
	// standbys got before the outage would hide it while they are in the window, and
	// NoLeader would page first (E6, E18). The former leader is one of the replicas,
	// and is the last to try.
	share, others := query.Number(k.Critical.Share), query.Op(s.By("count", s.HoldInfo()), "-", "1")
	errors := query.Op(query.Over("increase", failed, recent), ">", "0")
	erring := query.Op(s.By("count", errors), ">", query.Op(share, "*", others))
	least := query.Op(query.Op("0", "*", erring), "or", query.Op(query.Op("0", "*", met), "+", share))
	outage := query.Op(query.Op(s.By("sum", errors), "/", s.Increased(catalog.Attempts, recent)), ">", least)
	// One replica that cannot reach the backend, while a leader with a live
	// lease can, is a loss of redundancy, not an outage (C45). Two scrapes before
	// and after a handover show no leader for a moment.
	active := s.Metric(catalog.Active)
	outage = s.Without(s.Without(outage, query.Op(active, ">", "0")), query.Op(query.Over("max_over_time", active, k.Vacant.String()), ">", "0"))

	many := query.Op(s.BackendErrorShareAbove(atLeast(k.MinErrors), window), ">", query.Number(k.Warning.Share))
	// A short outage leaves its share in the window long after it is over (C45).
	many = s.Of(many, errors)

	text := func(window, leader string) string {
		return fmt.Sprintf("{{ $value | humanizePercentage }} of the attempts to acquire lock %s%s met a backend error in the last %s%s. "+
			"Check the backend; the logs of the replicas have the text of the error.%s",
			b.lock(), b.where(), window, leader,
			b.replicas("Most affected replicas", fmt.Sprintf("sum by (%s) (increase(%%s[%s])) > 0", b.HolderLabel, window), failed))
	}
	summary := "Attempts to acquire lock " + b.lock() + " meet backend errors"
	return []draft{
		{firing: k.Critical.Firing, expr: outage, summary: summary, description: text(recent, ", and no replica leads")},
		{firing: k.Warning.Firing, expr: many, summary: summary, description: text(window, "")},
	}
}

// The warning depends on a share of attempts. If attempts stay as
// frequent as before, an outage has to last for that share of the window.
func (k *BackendErrors) detect(d *detector) {
	vacant, fills := time.Duration(k.Vacant), time.Duration(k.Warning.Share*float64(k.Window))
	d.timed(k.Critical.Firing, "the end of the lease during an outage, or the first failed attempt of most replicas if that is later", max(vacant-d.scrape, 0), max(vacant, d.scrape), "outages while a replica leads: see the warning")
	d.level(k.Warning.Firing, "the first failed attempt", 0, fills, fmt.Sprintf("fewer than %d errors", k.MinErrors))
}
