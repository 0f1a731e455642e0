package main

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/internal/promeval"
)

// rule is one alerting rule that is judged.
type rule struct {
	promeval.Rule
	// key names it in the page: name and severity, or who uses it.
	key      string
	severity string
	// interval is the time between evaluations; 0: that of the group.
	interval time.Duration
	// foreign rules are not ours, and mute nothing.
	foreign bool
}

// ours are the rules that gen-dashboards makes of a configuration. Templates
// are left out: they change nothing about when an alert fires.
func ours(c alerts.Config) ([]rule, error) {
	made, err := alerts.Rules(c)
	if err != nil {
		return nil, err
	}
	var out []rule
	for _, r := range made {
		key := r.Name[len(alerts.Prefix):] + " " + r.Severity
		lset := map[string]string{c.SeverityLabel: r.Severity}
		if r.Variant != "" {
			key += " " + r.Variant
			lset["variant"] = r.Variant
		}
		out = append(out, rule{
			Rule: promeval.Rule{Name: r.Name, Expr: r.Expr, For: time.Duration(r.For), KeepFiringFor: time.Duration(r.KeepFiringFor), Labels: lset},
			key:  key, severity: r.Severity, interval: time.Duration(r.Interval),
		})
	}
	return out, nil
}

// rulesFrom reads the alerting rules of a Prometheus rules file, to be judged in
// place of ours. Several of one name and severity are distinguished by the label
// candidate.
func rulesFrom(file string) ([]rule, error) {
	groups, errs := rulefmt.ParseFile(file, false, model.LegacyValidation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		return nil, errs[0]
	}
	var out []rule
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" {
				continue
			}
			key := []string{strings.TrimPrefix(r.Alert, alerts.Prefix)}
			lset := map[string]string{}
			for _, name := range []string{"severity", "variant", "candidate"} {
				if value := r.Labels[name]; value != "" {
					key = append(key, value)
					lset[name] = value
				}
			}
			out = append(out, rule{
				Rule: promeval.Rule{Name: r.Alert, Expr: r.Expr, For: time.Duration(r.For), KeepFiringFor: time.Duration(r.KeepFiringFor), Labels: lset},
				key:  strings.Join(key, " "), severity: lset["severity"], interval: time.Duration(g.Interval),
			})
		}
	}
	return out, nil
}

// found are rules that others use or publish, rewritten for the series of
// this simulation from what their sources say.
func found() []rule {
	wild := func(key, expr string, hold time.Duration) rule {
		return rule{Rule: promeval.Rule{Name: key, Expr: expr, For: hold}, key: key, foreign: true}
	}
	return []rule{
		wild(masterStatusZero, `max by (job) (leader_election_master_status) == 0`, 2*time.Minute),
		wild(masterStatusTwo, `sum by (job) (leader_election_master_status) > 1`, time.Minute),
		wild(leaseAge, `time() - max without (prometheus_replica) (kube_lease_renew_time) > 300`, 10*time.Minute),
		wild(sumActive, `sum by (lock_name) (leader_active) > 1`, 30*time.Second),
		wild(noAcquisitions, `sum by (lock_name) (increase(leader_attempts_total[5m])) > 0 unless sum by (lock_name) (increase(leader_acquired_total[5m])) > 0`, 5*time.Minute),
		wild(anyBackendError, `sum by (lock_name) (rate(leader_not_acquired_total{reason="backend_error"}[5m])) > 0`, 2*time.Minute),
		wild(targetDown, `absent(up{job="a"}) or up{job="a"} == 0`, time.Minute),
	}
}

// What rules found elsewhere are called.
const (
	masterStatusZero = "client-go's gauge is 0 everywhere, for 2m"
	masterStatusTwo  = "client-go's gauge adds up to more than 1, for 1m"
	leaseAge         = "kube-state-metrics: lease not renewed for 300 s, for 10m"
	sumActive        = "sum of leader_active above 1, for 30s"
	noAcquisitions   = "bluetape4k-leader: attempts and no acquisition in 5m, for 5m"
	anyBackendError  = "bluetape4k-leader: any backend error in 5m, for 2m"
	targetDown       = "bluetape4k-leader: a target is down, for 1m"
)

// metrics are the names of the series that rules read.
func metrics(rules []rule) (map[string]bool, error) {
	names := map[string]bool{}
	for _, r := range rules {
		expr, err := parser.NewParser(parser.Options{}).ParseExpr(r.Expr)
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.key, err)
		}
		for _, selector := range parser.ExtractSelectors(expr) {
			for _, m := range selector {
				if m.Name == model.MetricNameLabel {
					names[m.Value] = true
				}
			}
		}
	}
	return names, nil
}
