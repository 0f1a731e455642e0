package alerts

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/query"
)

// familyLabel is the label of leader_elector_info that names the family.
const familyLabel = "family"

// annotations are the texts and links of an alert.
func (b builder) annotations(d draft) map[string]string {
	a := map[string]string{}
	maps.Copy(a, b.Annotations)
	a["summary"] = d.summary
	a["description"] = d.description
	labels := b.scope.TargetLabels()
	if !b.about.PerJob {
		a["description"] += " " + b.lookUp()
		labels = b.lockLabels()
	}
	if b.RunbookBaseURL != "" {
		a["runbook_url"] = strings.TrimSuffix(b.RunbookBaseURL, "/") + "/" + Prefix + b.about.Alert + ".md"
	}
	uid := b.LockDashboardUID
	switch {
	case b.about.Backends:
		uid = b.BackendsDashboardUID
	case b.about.PerJob:
		uid = b.DashboardUID
	}
	if uid != "" {
		// A relative path cannot be opened from an e-mail.
		if b.DashboardBaseURL != "" {
			a["dashboard_url"] = b.panelURL(uid, b.about.Panel, labels)
		}
		// Grafana wants both or neither.
		a["__dashboardUid__"] = uid
		a["__panelId__"] = strconv.Itoa(b.about.Panel)
	}
	return a
}

// lockLabels are those of the alert that the replicas of its lock have too: a store
// that checks tokens is scraped under a job of its own.
func (b builder) lockLabels() []string {
	if b.about.ofStore {
		return slices.DeleteFunc(slices.Clone(b.ScopeLabels), func(l string) bool { return l == "job" })
	}
	return b.ScopeLabels
}

// panelURL links to a panel with the alert's labels selected.
func (c Config) panelURL(uid string, panel int, labels []string) string {
	url := fmt.Sprintf("%s/d/%s?viewPanel=%d", strings.TrimSuffix(c.DashboardBaseURL, "/"), uid, panel)
	for _, l := range labels {
		// A label that the series lack would select the empty value.
		url += fmt.Sprintf("{{ with $labels.%[1]s }}&var-%[1]s={{ . | urlquery }}{{ end }}", l)
	}
	return url
}

// where names the scope of the alert, as in "of job a in namespace b".
func (b builder) where() string {
	var s strings.Builder
	for _, l := range slices.Backward(b.scope.TargetLabels()) {
		word := "in " + l
		if l == "job" {
			word = "of job"
		}
		fmt.Fprintf(&s, "{{ with $labels.%s }} %s {{ . }}{{ end }}", l, word)
	}
	return s.String()
}

// lock names the lock by its label.
func (b builder) lock() string { return "{{ $labels." + catalog.LockName.Name() + " }}" }

// lookUp tells a reader which lock a label stands for. The template queries the
// family when it is rendered: with a join in the expression, the alert would
// not fire where the series is missing, and would fail where replicas disagree
// (C25).
func (b builder) lookUp() string {
	info := b.scope.Metric(catalog.ElectorInfo, query.Unequal(familyLabel, ""))
	return b.withQuery(b.ScopeLabels, "max by ("+familyLabel+") (%s)", info, `The lock belongs to family {{ . | first | label "`+familyLabel+`" }}. `) +
		"If the label is a hash, `gen-dashboards label --key-file FILE --key-id ID < NAMES` prints the labels of the names in a file."
}

// backend is the template of the label that names the backend, where the
// replicas of the lock agree on one. It is queried when an alert is rendered, so
// that it costs the rules nothing, with a window that bridges failed scrapes:
// the label is part of the identity of the alert.
func (b builder) backend() string {
	info := b.scope.Metric(catalog.ElectorInfo, query.Unequal(backendLabel, ""))
	return b.withQuery(b.lockLabels(), "group by ("+backendLabel+") (last_over_time(%s[1h]))", info,
		`{{ if eq (len .) 1 }}{{ . | first | label "`+backendLabel+`" }}{{ end }}`)
}

// topReason names the most frequent reason of failed attempts in a window.
func (b builder) topReason(window string) string {
	return b.topOf(catalog.NotAcquired, "reason", window, "Most failed attempts of the last "+window+" ended with reason ")
}

// topCause names the most frequent cause with which terms ended in a window.
func (b builder) topCause(window string) string {
	return b.topOf(catalog.TermsEnded, "cause", window, "Most terms of the last "+window+" ended with cause ")
}

func (b builder) topOf(m *catalog.Metric, label, window, intro string) string {
	return b.withQuery(b.ScopeLabels, "topk(1, sum by ("+label+") (increase(%s["+window+"])) > 0)", b.scope.Metric(m),
		" "+intro+`{{ . | first | label "`+label+`" }}.`)
}

// reportedHeld says whether the backend recently told a replica that another
// one holds the lock.
func (b builder) reportedHeld(window string) string {
	reason, _ := catalog.NotAcquired.Label("reason")
	told := b.scope.Metric(catalog.NotAcquired, query.Equal(reason.Name(), catalog.Contended.String()))
	return b.withQuery(b.ScopeLabels, "sum(increase(%s["+window+"])) > 0", told,
		" The backend reports the lock as held.{{ else }} The backend has not reported the lock as held in the last "+window+".")
}

// replicas lists up to five replicas for which a query has a result, sorted by
// name because the order of equal values is random. Its %s is the series.
// Replicas are no labels of the alert: they would change its identity (C40).
func (b builder) replicas(intro, format string, series query.Expr) string {
	list := fmt.Sprintf(`{{ range sortByLabel %[1]q . }} {{ label %[1]q . }}{{ end }}`, b.HolderLabel)
	return b.withQuery(b.ScopeLabels, "topk(5, "+format+")", series, " "+intro+":"+list+".")
}

// withQuery prints text if a query has a result when the template is rendered.
// Its %s is the series, restricted to the alert's own labels.
func (b builder) withQuery(labels []string, format string, series query.Expr, text string) string {
	var own []string
	args := ""
	for _, l := range labels {
		own = append(own, l+"=%q")
		args += " $labels." + l
	}
	selector, braces := strings.CutSuffix(strings.ReplaceAll(string(series), "%", "%%"), "}")
	if braces {
		selector += ","
	} else {
		selector += "{"
	}
	q := fmt.Sprintf(format, selector+strings.Join(own, ",")+"}")
	return "{{ with query (printf " + literal(q) + args + ") }}" + text + "{{ end }}"
}

// literal quotes a string for a template, readably where that is possible.
func literal(s string) string {
	if strings.Contains(s, "`") {
		return strconv.Quote(s)
	}
	return "`" + s + "`"
}
