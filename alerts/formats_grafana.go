package alerts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/grafana/grafana-foundation-sdk/go/alerting"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/expr"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/prometheus/common/model"
)

// GrafanaManaged says how Grafana evaluates the rules itself.
type GrafanaManaged struct {
	// DatasourceUID is the uid of the Prometheus data source in Grafana.
	DatasourceUID string `yaml:"datasourceUID"`
	// OrgID is the organisation; 1 is the first.
	OrgID int64 `yaml:"orgID"`
	// Folder shows the rules. It is made when it is missing.
	Folder string `yaml:"folder"`
	// Interval is the time between evaluations, in steps of ten seconds.
	Interval model.Duration `yaml:"interval"`
	// UIDPrefix begins the uids of the rules. A second set of rules needs its
	// own.
	UIDPrefix string `yaml:"uidPrefix"`
}

// DefaultGrafanaManaged goes with [Default].
func DefaultGrafanaManaged() GrafanaManaged {
	return GrafanaManaged{DatasourceUID: "prometheus", OrgID: 1, Folder: "Leader election", Interval: minutes(1), UIDPrefix: "leaderscope"}
}

// maxRuleUID is Grafana's limit.
const maxRuleUID = 40

var datasourceUID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)

var uidPart = regexp.MustCompile(`^[a-z0-9_-]+$`)

// Validate reports every setting that cannot work, as [*KeyError] joined by
// [errors.Join].
func (g GrafanaManaged) Validate() error {
	longest := maxRuleUID - len("-RedactionKeyMismatch-warning")
	v := &validation{}
	v.require(datasourceUID.MatchString(g.DatasourceUID), "datasourceUID", "%q is no uid; use 1 to 40 letters, digits, - and _", g.DatasourceUID)
	v.require(g.OrgID >= 1, "orgID", "%d is no organisation; use 1 for the first", g.OrgID)
	v.require(strings.TrimSpace(g.Folder) != "", "folder", "must not be empty, Grafana refuses rules without; use a name such as Leader election")
	v.require(g.Interval > 0 && g.Interval%grafanaStep == 0, "interval", "%s is no multiple of %s, in which Grafana evaluates; use one such as 1m", g.Interval, grafanaStep)
	v.require(uidPart.MatchString(g.UIDPrefix) && len(g.UIDPrefix) <= longest, "uidPrefix", "%q begins no uid; use 1 to %d small letters, digits, - and _", g.UIDPrefix, longest)
	return errors.Join(v.errs...)
}

// GrafanaAlerting returns the enabled rules as a file of Grafana's alerting
// provisioning, for those who let Grafana evaluate: it belongs into
// provisioning/alerting. What a text looks up while it is made, such as the
// replicas, is left out: Grafana's templates cannot ask. So are recording
// rules. The error is that of
// [Config.Validate] or of [GrafanaManaged.Validate], or names an annotation of
// one's own that Grafana could not fill in.
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
	made := grafanaFile{APIVersion: 1}
	for _, part := range grouped(c, rules) {
		group := grafanaGroup{OrgID: g.OrgID, Name: literally(part.name), Folder: literally(g.Folder), Interval: g.interval(part.rules)}
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

// grafanaTexts reports the annotations of one's own that Grafana could not
// fill in, as [*KeyError] joined by [errors.Join].
func (c Config) grafanaTexts() error {
	v := &validation{config: c}
	for _, name := range sortedKeys(c.Annotations) {
		_, err := forGrafana(c.Annotations[name])
		v.require(err == nil, "annotations."+name, "the format grafana-alerting cannot express this: %v; leave that out of the text, or name the other formats with --format", err)
	}
	return errors.Join(v.errs...)
}

// literally writes a text where Grafana expands environment variables.
// Source: pkg/services/provisioning/values/values.go of Grafana.
func literally(text string) string { return strings.ReplaceAll(text, "$", "$$") }

// grafanaStep is what intervals of Grafana are multiples of.
const grafanaStep = model.Duration(10 * time.Second)

// interval is the time between evaluations: one's own, or a longer one of the
// rules in whole steps of Grafana.
func (g GrafanaManaged) interval(rules []Rule) model.Duration {
	longest := g.Interval
	for _, r := range rules {
		steps := (r.Interval + grafanaStep - 1) / grafanaStep
		longest = max(longest, steps*grafanaStep)
	}
	return longest
}

// The file format of Grafana's alerting provisioning.
// Source: pkg/services/provisioning/alerting/rules_types.go of Grafana.
type grafanaFile struct {
	APIVersion int            `yaml:"apiVersion"`
	Groups     []grafanaGroup `yaml:"groups"`
}

type grafanaGroup struct {
	OrgID    int64          `yaml:"orgId"`
	Name     string         `yaml:"name"`
	Folder   string         `yaml:"folder"`
	Interval model.Duration `yaml:"interval"`
	Rules    []grafanaRule  `yaml:"rules"`
}

type grafanaRule struct {
	UID           string            `yaml:"uid"`
	Title         string            `yaml:"title"`
	Condition     string            `yaml:"condition"`
	Data          []any             `yaml:"data"`
	DashboardUID  string            `yaml:"dashboardUid,omitempty"`
	PanelID       int               `yaml:"panelId,omitempty"`
	NoDataState   string            `yaml:"noDataState"`
	ExecErrState  string            `yaml:"execErrState"`
	For           model.Duration    `yaml:"for"`
	KeepFiringFor model.Duration    `yaml:"keepFiringFor,omitempty"`
	Labels        map[string]string `yaml:"labels"`
	Annotations   map[string]string `yaml:"annotations"`
}

// rule is one rule as Grafana keeps it. The rule is true where the query has a
// result, whatever its value, so no data is the healthy case. Grafana wants
// titles to differ within a folder.
func (g GrafanaManaged) rule(r Rule, several bool) (grafanaRule, error) {
	data, err := g.data(r.Expr)
	if err != nil {
		return grafanaRule{}, err
	}
	out := grafanaRule{
		UID: g.uid(r), Title: r.Name, Condition: "firing", Data: data,
		NoDataState: string(alerting.RuleNoDataStateOK), ExecErrState: string(alerting.RuleExecErrStateError),
		For: r.For, KeepFiringFor: r.KeepFiringFor, Labels: r.Labels, Annotations: map[string]string{},
		DashboardUID: r.Annotations["__dashboardUid__"],
	}
	out.PanelID, _ = strconv.Atoi(r.Annotations["__panelId__"])
	if several {
		out.Title += " (" + literally(strings.TrimSpace(r.Severity+" "+r.Variant)) + ")"
	}
	// The backend is asked for by a template, which Grafana does not expand in
	// labels.
	out.Labels = maps.Clone(r.Labels)
	delete(out.Labels, backendLabel)
	for name, value := range out.Labels {
		out.Labels[name] = literally(value)
	}
	for name, text := range r.Annotations {
		if out.Annotations[name], err = forGrafana(text); err != nil {
			return grafanaRule{}, fmt.Errorf("annotation %s: %w", name, err)
		}
	}
	return out, nil
}

var noUIDPart = regexp.MustCompile(`[^a-z0-9]+`)

// uid stays the same while the rule is the same, so that its history does.
func (g GrafanaManaged) uid(r Rule) string {
	name := g.UIDPrefix + "-" + noUIDPart.ReplaceAllString(strings.ToLower(strings.TrimPrefix(r.Name, Prefix)+"-"+r.Severity+"-"+r.Variant), "-")
	return strings.Trim(name[:min(len(name), maxRuleUID)], "-")
}

// data is what Grafana's own import makes of a Prometheus rule: the query,
// whether it has a value, and the condition on that.
func (g GrafanaManaged) data(promQL string) ([]any, error) {
	server := common.DataSourceRef{Type: cog.ToPtr("__expr__"), Uid: cog.ToPtr("__expr__")}
	steps := []cog.Builder[alerting.Query]{
		alerting.NewQueryBuilder("query").DatasourceUid(g.DatasourceUID).RelativeTimeRange(600, 0).
			Model(prometheus.NewDataqueryBuilder().RefId("query").Expr(promQL).Instant().
				Datasource(common.DataSourceRef{Type: cog.ToPtr("prometheus"), Uid: &g.DatasourceUID}).
				EditorMode(prometheus.QueryEditorModeCode)),
		alerting.NewQueryBuilder("found").DatasourceUid("__expr__").RelativeTimeRange(0, 0).
			Model(expr.NewExprBuilder().TypeMath(expr.NewTypeMathBuilder().RefId("found").Datasource(server).
				Expression("is_number($query) || is_nan($query) || is_inf($query)"))),
		alerting.NewQueryBuilder("firing").DatasourceUid("__expr__").RelativeTimeRange(0, 0).
			Model(expr.NewExprBuilder().TypeThreshold(expr.NewTypeThresholdBuilder().RefId("firing").Datasource(server).
				Expression("found").Conditions([]cog.Builder[expr.ExprTypeThresholdConditions]{
				expr.NewExprTypeThresholdConditionsBuilder().Evaluator(
					expr.NewExprTypeThresholdConditionsEvaluatorBuilder().Type(expr.ExprTypeThresholdConditionsEvaluatorTypeGt).Params([]float64{0}))}))),
	}
	var data []any
	for _, s := range steps {
		built, err := s.Build()
		if err != nil {
			return nil, err
		}
		plain, err := asPlain(built)
		if err != nil {
			return nil, err
		}
		data = append(data, plain)
	}
	return data, nil
}

// asPlain is a value with the names of its JSON.
func asPlain(v any) (plain any, err error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return plain, json.Unmarshal(raw, &plain)
}
