package alerts

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/grafana/grafana-foundation-sdk/go/alerting"
	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/alerts/internal/grafana"
)

// GrafanaManaged has the settings for rules that Grafana evaluates itself.
type GrafanaManaged struct {
	// DatasourceUID is the uid of the Prometheus data source in Grafana.
	DatasourceUID string `yaml:"datasourceUID"`
	// OrgID is the organisation; 1 is the first.
	OrgID int64 `yaml:"orgID"`
	// Folder is the folder of the rules. Grafana creates it if it does not exist.
	Folder string `yaml:"folder"`
	// Interval is the time between evaluations, in steps of ten seconds.
	Interval model.Duration `yaml:"interval"`
	// UIDPrefix is the prefix of the rules' uids. A second set of rules needs a
	// prefix of its own.
	UIDPrefix string `yaml:"uidPrefix"`
}

// DefaultGrafanaManaged returns the settings that go with [Default].
func DefaultGrafanaManaged() GrafanaManaged {
	return GrafanaManaged{DatasourceUID: "prometheus", OrgID: 1, Folder: "Leader election", Interval: minutes(1), UIDPrefix: "leaderscope"}
}

// maxRuleUID is Grafana's limit for the length of a uid.
const maxRuleUID = 40

var datasourceUID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)

var uidPart = regexp.MustCompile(`^[a-z0-9_-]+$`)

// Validate reports every invalid setting, as [*KeyError] joined with
// [errors.Join].
func (g GrafanaManaged) Validate() error {
	longest := maxRuleUID - len("-RedactionKeyMismatch-warning")
	v := &validation{}
	v.require(datasourceUID.MatchString(g.DatasourceUID), "datasourceUID", "%q is not a valid uid; use 1 to 40 letters, digits, - and _", g.DatasourceUID)
	v.require(g.OrgID >= 1, "orgID", "%d is not a valid organisation id; use 1 for the first", g.OrgID)
	v.require(strings.TrimSpace(g.Folder) != "", "folder", "must not be empty, Grafana refuses rules without; use a name such as Leader election")
	v.require(g.Interval > 0 && g.Interval%grafanaStep == 0, "interval", "%s is not a multiple of %s, in which Grafana evaluates; use one such as 1m", g.Interval, grafanaStep)
	v.require(uidPart.MatchString(g.UIDPrefix) && len(g.UIDPrefix) <= longest, "uidPrefix", "%q begins no uid; use 1 to %d lower-case letters, digits, - and _", g.UIDPrefix, longest)
	return errors.Join(v.errs...)
}

// GrafanaAlerting returns the enabled rules as a file of Grafana's alerting
// provisioning, for Grafana-managed rules: it belongs in provisioning/alerting.
// Grafana's templates cannot run queries, so the parts of texts that come from
// queries, such as the list of replicas, are left out, and so are recording rules.
// The error is that of [Config.Validate] or of [GrafanaManaged.Validate], or names a
// custom annotation that Grafana cannot render.
func GrafanaAlerting(c Config, g GrafanaManaged) ([]byte, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	rules, err := Rules(c)
	if err != nil {
		return nil, err
	}
	if err := c.grafanaTexts(); err != nil {
		return nil, err
	}
	times := map[string]int{}
	for _, r := range rules {
		times[r.Name]++
	}
	made := grafana.File{APIVersion: 1}
	for _, part := range grouped(c, rules) {
		group := grafana.Group{OrgID: g.OrgID, Name: grafana.Literally(part.name), Folder: grafana.Literally(g.Folder), Interval: g.interval(part.rules)}
		for _, r := range part.rules {
			rule, err := g.rule(r, times[r.Name] > 1)
			if err != nil {
				return nil, fmt.Errorf("alert %s: %w", r.Name, err)
			}
			group.Rules = append(group.Rules, rule)
		}
		made.Groups = append(made.Groups, group)
	}
	file, err := encode("grafana-alerting", made)
	if err != nil || !c.Recording {
		return file, err
	}
	first := bytes.IndexByte(file, '\n') + 1
	return slices.Insert(file, first, []byte(withoutRecordings)...), nil
}

// grafanaTexts reports the custom annotations that Grafana cannot render, as
// [*KeyError] joined with [errors.Join].
func (c Config) grafanaTexts() error {
	v := &validation{config: c}
	for _, name := range sortedKeys(c.Annotations) {
		_, err := grafana.Text(c.Annotations[name])
		v.require(err == nil, "annotations."+name, "the format grafana-alerting cannot express this: %v; leave that out of the text, or name the other formats with --format", err)
	}
	return errors.Join(v.errs...)
}

// grafanaStep is the unit of intervals in Grafana.
const grafanaStep = model.Duration(10 * time.Second)

// interval is the time between evaluations: the configured one, or the longer one of
// the rules, rounded to steps of Grafana.
func (g GrafanaManaged) interval(rules []Rule) model.Duration {
	longest := g.Interval
	for _, r := range rules {
		steps := (r.Interval + grafanaStep - 1) / grafanaStep
		longest = max(longest, steps*grafanaStep)
	}
	return longest
}

// rule converts a rule to Grafana's format. The condition is that the query has a
// result with any value, so no data is the healthy case. Titles must differ within
// a folder.
func (g GrafanaManaged) rule(r Rule, several bool) (grafana.Rule, error) {
	data, err := grafana.Data(g.DatasourceUID, r.Expr)
	if err != nil {
		return grafana.Rule{}, err
	}
	out := grafana.Rule{
		UID: g.uid(r), Title: r.Name, Condition: grafana.Condition, Data: data,
		NoDataState: string(alerting.RuleNoDataStateOK), ExecErrState: string(alerting.RuleExecErrStateError),
		For: r.For, KeepFiringFor: r.KeepFiringFor, Labels: r.Labels, Annotations: map[string]string{},
		DashboardUID: r.Annotations["__dashboardUid__"],
	}
	out.PanelID, _ = strconv.Atoi(r.Annotations["__panelId__"])
	if several {
		out.Title += " (" + grafana.Literally(strings.TrimSpace(r.Severity+" "+r.Variant)) + ")"
	}
	// The label backend is a template with a query, which Grafana does not expand in
	// labels.
	out.Labels = maps.Clone(r.Labels)
	delete(out.Labels, backendLabel)
	for name, value := range out.Labels {
		out.Labels[name] = grafana.Literally(value)
	}
	for name, text := range r.Annotations {
		if out.Annotations[name], err = grafana.Text(text); err != nil {
			return grafana.Rule{}, fmt.Errorf("annotation %s: %w", name, err)
		}
	}
	return out, nil
}

var noUIDPart = regexp.MustCompile(`[^a-z0-9]+`)

// uid is stable for the same rule, so that Grafana keeps its history.
func (g GrafanaManaged) uid(r Rule) string {
	name := g.UIDPrefix + "-" + noUIDPart.ReplaceAllString(strings.ToLower(strings.TrimPrefix(r.Name, Prefix)+"-"+r.Severity+"-"+r.Variant), "-")
	return strings.Trim(name[:min(len(name), maxRuleUID)], "-")
}
