package alerts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/leaderscope/leaderscope/alerts/internal/alertmanager"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/query"
)

// Routing has the settings of the example route. Its receivers must exist in the
// user's own configuration.
type Routing struct {
	// Receiver gets every alert that does not page.
	Receiver string `yaml:"receiver"`
	// PageReceiver gets the alerts that page.
	PageReceiver string `yaml:"pageReceiver"`
	// PageSeverity is the severity that pages. An alert with it mutes the alerts that
	// it explains.
	PageSeverity string `yaml:"pageSeverity"`
}

// DefaultRouting returns the settings that go with [Default].
func DefaultRouting() Routing {
	return Routing{Receiver: "leader-election", PageReceiver: "leader-election-page", PageSeverity: critical}
}

// Alertmanager returns the inhibition rules for the alerts and an example route, as
// a configuration that Alertmanager loads: one page per cause, and no warning in
// addition to its page. Rules of disabled alerts are left out. The error is that of
// [Config.Validate].
func Alertmanager(c Config, r Routing) ([]byte, error) {
	rules, err := Rules(c)
	if err != nil {
		return nil, err
	}
	m := muter{Config: c, page: r.PageSeverity, severities: map[string][]string{}}
	for _, rule := range rules {
		if m.severities[rule.Name] == nil {
			m.names = append(m.names, rule.Name)
		}
		m.severities[rule.Name] = append(m.severities[rule.Name], rule.Severity)
	}
	data, err := encode("alertmanager", alertmanager.File{
		Inhibit: append(m.lesser(), m.explained()...), Route: m.route(r),
		Receivers: receivers(r),
	})
	if err != nil {
		return nil, err
	}
	first, rest, _ := strings.Cut(string(data), "\n")
	return []byte(first + "\n" + alertmanagerHeader + rest), nil
}

const alertmanagerHeader = `# inhibit_rules go into the list of that name in alertmanager.yml as they are.
# route and receivers are an example, which loads but sends no notification.
`

// muter knows the alerts in their order, and the severities of each.
type muter struct {
	Config
	page       string
	names      []string
	severities map[string][]string
}

// cause is an alert that explains others.
type cause struct {
	alert string
	mutes []string
	// paging: the alert mutes others only while it pages itself; otherwise a page
	// would be lost.
	paging bool
	// acrossLocks: the alert is about a whole job.
	acrossLocks bool
	// sparesPages: the alert mutes only alerts that do not page.
	sparesPages bool
	// anyReporter: an observer with a job and a namespace of its own may report the
	// muted alerts.
	anyReporter bool
	// ofBackend: the alert mutes alerts about its backend.
	ofBackend bool
}

// causes lists the alerts that mute others, the most general first.
var causes = []cause{
	// While the backend fails, no replica can lead: one page, for the backend.
	{alert: "BackendErrors", paging: true, mutes: []string{"NoLeader", "NoAcquisition", "RenewalFailures", "JobOverdue", "AttemptStuck"}},
	// If no replica leads, no attempt wins, no job runs, and a standby would not
	// help.
	{alert: "NoLeader", paging: true, mutes: []string{"NoAcquisition", "JobOverdue", "NoStandby"}},
	// The same problem, as the backend reports it.
	{alert: "BackendErrors", paging: true, anyReporter: true, mutes: []string{"Vacant"}},
	{alert: "BackendErrors", paging: true, ofBackend: true, mutes: []string{"ObserverBlind"}},
	{alert: "NoLeader", paging: true, anyReporter: true, mutes: []string{"Vacant"}},
	// Impostor says which process to stop.
	{alert: "Impostor", paging: true, mutes: []string{"SplitBrain", "Overlap"}},
	// Two leaders for which SplitBrain fires overlap as well.
	{alert: "SplitBrain", paging: true, mutes: []string{"Overlap"}},
	// If no attempt wins, no job runs.
	{alert: "NoAcquisition", mutes: []string{"JobOverdue"}},
	// Past the lease is worse than near it.
	{alert: "LeaseExceeded", mutes: []string{"NearLease", "LowHeadroom"}},
	// A job without metrics has no metrics of locks either.
	{alert: "MetricsAbsent", acrossLocks: true, mutes: []string{"LockVanished", "ScrapeFailing", "JobOverdue", "ObserverBlind"}},
	// A standby that cannot be scraped may still run.
	{alert: "ScrapeFailing", acrossLocks: true, mutes: []string{"LockVanished", "NoStandby"}},
	// The leader may be on a target that is down: while that explains the absence,
	// the scrape is the cause.
	{alert: "ScrapeFailing", acrossLocks: true, sparesPages: true, mutes: []string{"NoLeader"}},
}

// lesser mutes the other severities of an alert that pages.
func (m muter) lesser() []alertmanager.InhibitRule {
	var out []alertmanager.InhibitRule
	for _, name := range m.names {
		others := slices.DeleteFunc(slices.Clone(m.severities[name]), func(s string) bool { return s == m.page })
		if len(others) > 0 && len(others) < len(m.severities[name]) {
			out = append(out, alertmanager.InhibitRule{
				Source: []string{called(name), m.severity(m.page)},
				Target: []string{called(name), m.severity(others...)},
				Equal:  m.ScopeLabels,
			})
		}
	}
	return out
}

// explained mutes alerts that another alert explains.
func (m muter) explained() []alertmanager.InhibitRule {
	var out []alertmanager.InhibitRule
	for _, c := range causes {
		severities := m.severities[Prefix+c.alert]
		var targets []string
		for _, name := range c.mutes {
			if m.severities[Prefix+name] != nil {
				targets = append(targets, Prefix+name)
			}
		}
		if severities == nil || targets == nil || c.paging && !slices.Contains(severities, m.page) {
			continue
		}
		r := alertmanager.InhibitRule{Source: []string{called(Prefix + c.alert)}, Target: []string{called(targets...)}, Equal: m.ScopeLabels}
		if c.paging {
			r.Source = append(r.Source, m.severity(m.page))
		}
		switch {
		case c.acrossLocks:
			r.Equal = m.where()
		case c.anyReporter:
			r.Equal = m.wherever()
		case c.ofBackend:
			r.Equal = append(notLock(m.wherever()), backendLabel)
		}
		if c.sparesPages {
			r.Target = append(r.Target, fmt.Sprintf("%s!=%q", m.SeverityLabel, m.page))
		}
		out = append(out, r)
	}
	return out
}

// where returns the labels of a job.
func (m muter) where() []string { return notLock(m.ScopeLabels) }

// wherever returns the labels that an observer shares with the locks that it
// observes.
func (m muter) wherever() []string {
	return query.Scope{Labels: m.ScopeLabels, Reporter: m.ReporterLabels}.AnyReporter()
}

func notLock(labels []string) []string {
	return slices.DeleteFunc(slices.Clone(labels), func(l string) bool { return l == catalog.LockName.Name() })
}

func (m muter) severity(values ...string) string {
	return alertmanager.Matcher(m.SeverityLabel, values...)
}

func called(names ...string) string { return alertmanager.Matcher(labels.AlertName, names...) }

// route groups alerts by service, and backend errors by backend, so that the failure
// of a backend is one notification for all services.
func (m muter) route(r Routing) alertmanager.Route {
	page := alertmanager.Route{Receiver: r.PageReceiver, Matchers: []string{m.severity(m.page)}, GroupWait: "10s"}
	backend := alertmanager.Route{
		Receiver: r.Receiver, Matchers: []string{called(Prefix + "BackendErrors"), backendLabel + `!=""`}, GroupBy: m.byBackend(),
		Routes: []alertmanager.Route{page},
	}
	routes := []alertmanager.Route{page}
	if m.severities[Prefix+"BackendErrors"] != nil {
		routes = []alertmanager.Route{backend, page}
	}
	return alertmanager.Route{
		Receiver: r.Receiver,
		Routes: []alertmanager.Route{{
			Receiver:  r.Receiver,
			Matchers:  []string{fmt.Sprintf("%s=~%q", labels.AlertName, Prefix+".+")},
			GroupBy:   append([]string{labels.AlertName}, m.where()...),
			GroupWait: "30s", GroupInterval: "5m", RepeatInterval: "4h",
			Routes: routes,
		}},
	}
}

// byBackend groups the alerts of one backend across jobs and namespaces.
func (m muter) byBackend() []string {
	return append([]string{labels.AlertName, backendLabel}, notLock(m.wherever())...)
}

func receivers(r Routing) []alertmanager.Receiver {
	if r.Receiver == r.PageReceiver {
		return []alertmanager.Receiver{{Name: r.Receiver}}
	}
	return []alertmanager.Receiver{{Name: r.Receiver}, {Name: r.PageReceiver}}
}
