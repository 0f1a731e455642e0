package main

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"github.com/leaderscope/leaderscope/alerts"
)

func configCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "Print the default configuration, commented",
		Args:  cobra.NoArgs,

		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, _ []string) error {
			text, err := commented(defaultConfig())
			if err != nil {
				return failure{err}
			}
			_, err = c.OutOrStdout().Write(text)
			if err != nil {
				return failure{err}
			}
			return nil
		},
	}
}

const configHeader = "# Configuration of gen-dashboards, with every default. Keys that are left out keep theirs.\n" +
	"# Printed by: gen-dashboards config\n\n"

// commented prints a configuration with a comment at every key.
func commented(c config) ([]byte, error) {
	plain, err := yaml.MarshalWithOptions(c, yaml.IndentSequence(true))
	if err != nil {
		return nil, err
	}
	d, err := parse("the default configuration", plain)
	if err != nil {
		return nil, err
	}
	at := yaml.CommentMap{}
	for _, e := range d.keys {
		if comment, aside := commentOn(e.path); comment != "" {
			at["$."+e.path] = []*yaml.Comment{commentAt(comment, aside)}
		}
	}
	text, err := yaml.MarshalWithOptions(c, yaml.IndentSequence(true), yaml.WithComment(at))
	if err != nil {
		return nil, fmt.Errorf("print the configuration: %w", err)
	}
	spaced := strings.ReplaceAll(string(text), "\n# ", "\n\n# ")
	return []byte(configHeader + spaced), nil
}

func commentAt(comment string, aside bool) *yaml.Comment {
	if aside {
		return yaml.LineComment(" " + comment)
	}
	var lines []string
	for _, l := range strings.Split(comment, "\n") {
		lines = append(lines, " "+l)
	}
	return yaml.HeadComment(lines...)
}

// commentOn finds the comment on a key. One on a knob of an alert stands beside
// its value.
func commentOn(path string) (comment string, aside bool) {
	if c, ok := comments[path]; ok {
		return c, false
	}
	for _, k := range alerts.Keys() {
		if "alerts."+k.Path == path {
			return k.Comment, k.Aside
		}
	}
	return "", false
}

var comments = map[string]string{
	"source": "Whose series are read: leaderscope; or client-go or kube-state-metrics, for which there are rules alone, and fewer of them:\ngen-dashboards sources says which, how soon they fire, and which are not possible. Windows, for and severities are those of alerts below.",

	"scope":                "Which series are read. Rules and dashboards share it.",
	"scope.labels":         "Labels that tell locks apart; lock_name must be among them. A lock shared between\nclusters needs cluster taken out. Labels that no series has do no harm.",
	"scope.reporter":       "Those of the labels that tell which process reports what a backend says, and not which lock it is:\nleader-observer has a namespace and a job of its own.",
	"scope.holder":         "Label that tells replicas apart: instance, or pod on Kubernetes. Every series must have it.",
	"scope.selector":       "Restricts everything to matching series, as in team=\"shop\".",
	"scope.metricPrefix":   "Prefix or namespace that the exporter puts before every metric name, as in shop_; mostly empty.",
	"scope.scrapeInterval": "Time between two samples of a series. The rules for 15s to 60s are the same and hold for all of them.",
	"scope.histograms":     "Form of histograms that rules and panels read: classic, which every server reads; native; or both. VictoriaMetrics\nrefuses rules that read native ones.",

	"recording": "true: rules record one series per lock, which the overview reads in place of those of every replica. For hundreds of locks.",

	"alerts":                  "Alerting rules.",
	"alerts.group":            "The rule group.",
	"alerts.group.name":       "Name of the group.",
	"alerts.group.interval":   "Time between evaluations; 0s: the server's own.",
	"alerts.severityLabel":    "Label that carries the severity.",
	"alerts.labels":           "Labels added to every alert.",
	"alerts.annotations":      "Annotations added to every alert.",
	"alerts.runbookBaseURL":   "Where the runbooks are; empty: no links to them.",
	"alerts.dashboardBaseURL": "Grafana's address, as in https://grafana.example.org; empty: alerts have no link to a panel.",

	"dashboards":                "Grafana dashboards.",
	"dashboards.uid":            "Identity of the overview: 1 to 40 letters, digits, - and _. A fork needs its own. Alerts link to it.",
	"dashboards.title":          "Name of the overview.",
	"dashboards.lock":           "The dashboard of one lock.",
	"dashboards.lock.uid":       "Its identity, as above.",
	"dashboards.lock.title":     "Its name.",
	"dashboards.backends":       "The dashboard of what the backends say, which reads leader-observer and standbys.",
	"dashboards.backends.uid":   "Its identity, as above.",
	"dashboards.backends.title": "Its name.",
	"dashboards.tags":           "Tags that help to find them.",
	"dashboards.refresh":        "Time between two reloads; empty: none.",
	"dashboards.from":           "Start of the time range shown first.",
	"dashboards.to":             "End of the time range shown first.",
	"dashboards.timezone":       "utc, browser, or a name such as Europe/Berlin.",
	"dashboards.legend":         "Names a lock in legends, from scope.labels; empty: {{job}} / {{lock_name}}. It should tell apart\nevery lock that is shown at once.",
	"dashboards.aliases":        "true: the table of locks has a column with the aliases that gen-dashboards aliases makes rules of.",
	"dashboards.folder":         "Folder of Grafana that shows the dashboards; empty: the top one.",
	"dashboards.path":           "Directory in which Grafana finds the dashboards' files.",

	"kubeStateMetrics":            "What kube-state-metrics does not tell; for that source alone.",
	"kubeStateMetrics.staleAfter": "Age of a renewal from which a Lease counts as free: longer than every lease, whose length is not exported.",

	"kubernetes":                                             "What the formats prometheusrule, configmap and grafana-operator make.",
	"kubernetes.namespace":                                   "Namespace of the objects; empty: that of the client that applies them.",
	"kubernetes.labels":                                      "Labels of every object.",
	"kubernetes.annotations":                                 "Annotations of every object.",
	"kubernetes.helm":                                        "true: the files are templates of a Helm chart, which would take the braces of alert texts and\nlegends for its own; they are written so that the chart renders them as they are now.",
	"kubernetes.prometheusRule":                              "The rules for the Prometheus Operator.",
	"kubernetes.prometheusRule.name":                         "Name of the object.",
	"kubernetes.prometheusRule.labels":                       "Labels that the ruleSelector of Prometheus asks for, as in release: kube-prometheus-stack. Without\nthem the object is accepted and ignored.",
	"kubernetes.configMap":                                   "The dashboards for the sidecar of Grafana's Helm chart.",
	"kubernetes.configMap.name":                              "Beginning of the objects' names; -overview, -lock and -backends follow.",
	"kubernetes.configMap.label":                             "Label by which the sidecar finds them: sidecar.dashboards.label of the chart.",
	"kubernetes.configMap.labelValue":                        "Its value: sidecar.dashboards.labelValue of the chart.",
	"kubernetes.configMap.folderAnnotation":                  "Annotation that names the folder: sidecar.dashboards.folderAnnotation of the chart; empty: none.",
	"kubernetes.grafanaOperator":                             "The dashboards for the Grafana Operator.",
	"kubernetes.grafanaOperator.name":                        "Beginning of the objects' names; -overview, -lock and -backends follow.",
	"kubernetes.grafanaOperator.instanceSelector":            "Labels of the Grafana objects that show them.",
	"kubernetes.grafanaOperator.instanceSelector.dashboards": "As in the examples of the operator.",
	"kubernetes.grafanaOperator.allowCrossNamespaceImport":   "true: Grafanas of other namespaces take them too.",

	"grafanaAlerting":               "What the format grafana-alerting makes: rules that Grafana evaluates itself.",
	"grafanaAlerting.datasourceUID": "Uid of the Prometheus data source.",
	"grafanaAlerting.orgID":         "Organisation of Grafana.",
	"grafanaAlerting.folder":        "Folder that shows the rules; made when missing.",
	"grafanaAlerting.interval":      "Time between evaluations, a multiple of 10s.",
	"grafanaAlerting.uidPrefix":     "Beginning of the rules' uids. A second set of rules needs its own.",

	"mimir":           "What the format mimir makes.",
	"mimir.namespace": "Namespace of the ruler.",

	"alertmanager":              "What the format alertmanager makes.",
	"alertmanager.receiver":     "Receiver of what does not page, in the example of a route.",
	"alertmanager.pageReceiver": "Receiver of what does.",
	"alertmanager.pageSeverity": "Severity that pages. An alert that pages mutes what it explains.",
}
