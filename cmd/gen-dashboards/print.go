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
		Short: "Print the default configuration with comments",
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

const configHeader = "# Configuration of gen-dashboards, with all defaults. Keys that are left out have the default value.\n" +
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

// commentOn finds the comment for a key. The comment for a setting of an alert is
// written beside its value.
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
	"source": "The source of the metrics: leaderscope, client-go or kube-state-metrics. For the last two there are fewer rules and one\ndashboard: gen-dashboards sources prints which alerts are possible and how soon they fire. They use the windows, durations and\nseverities of alerts below.",

	"scope":                "The series that rules and dashboards read.",
	"scope.labels":         "Labels that identify a lock; must contain lock_name. If clusters share a lock, remove cluster. Labels that no\nseries has do no harm.",
	"scope.reporter":       "Those of the labels that identify the process that reports the state of a backend, and not the lock:\nleader-observer has its own namespace and job.",
	"scope.holder":         "Label that identifies a replica: instance, or pod on Kubernetes. Every series must have it.",
	"scope.selector":       "Label matchers that restrict rules and dashboards to matching series, such as team=\"shop\".",
	"scope.metricPrefix":   "Prefix or namespace that the exporter adds to every metric name, such as shop_; usually empty.",
	"scope.scrapeInterval": "Time between two samples of a series. The rules are the same for all values from 15s to 60s.",
	"scope.histograms":     "Form of histograms that rules and panels read: classic, which every server supports; native; or both.\nVictoriaMetrics refuses rules that read native histograms.",

	"recording": "true adds recording rules with one series per lock, which the overview reads instead of the series of every\nreplica. Use it for hundreds of locks.",

	"alerts":                  "Alerting rules.",
	"alerts.group":            "The rule group.",
	"alerts.group.name":       "Name of the group.",
	"alerts.group.interval":   "Time between evaluations; 0s uses the server's default.",
	"alerts.severityLabel":    "Label that carries the severity.",
	"alerts.labels":           "Labels added to every alert.",
	"alerts.annotations":      "Annotations added to every alert.",
	"alerts.runbookBaseURL":   "Address of the runbooks; empty: alerts have no link to them.",
	"alerts.dashboardBaseURL": "Address of Grafana, such as https://grafana.example.org; empty: alerts have no link to a panel.",

	"dashboards":                "Grafana dashboards.",
	"dashboards.uid":            "Uid of the overview: 1 to 40 letters, digits, - and _. Alerts link to it. A modified copy needs a uid of its own.",
	"dashboards.title":          "Title of the overview.",
	"dashboards.lock":           "The dashboard of one lock.",
	"dashboards.lock.uid":       "Uid of that dashboard.",
	"dashboards.lock.title":     "Title of that dashboard.",
	"dashboards.backends":       "The dashboard of the backends, with metrics of leader-observer and of standbys.",
	"dashboards.backends.uid":   "Uid of that dashboard.",
	"dashboards.backends.title": "Title of that dashboard.",

	"dashboards.clientGo":               "The only dashboard of source: client-go.",
	"dashboards.clientGo.uid":           "Uid of that dashboard.",
	"dashboards.clientGo.title":         "Title of that dashboard.",
	"dashboards.kubeStateMetrics":       "The only dashboard of source: kube-state-metrics.",
	"dashboards.kubeStateMetrics.uid":   "Uid of that dashboard.",
	"dashboards.kubeStateMetrics.title": "Title of that dashboard.",
	"dashboards.tags":                   "Tags of the dashboards.",
	"dashboards.refresh":                "Refresh interval; empty: no automatic refresh.",
	"dashboards.from":                   "Start of the default time range.",
	"dashboards.to":                     "End of the default time range.",
	"dashboards.timezone":               "Time zone: utc, browser, or a name such as Europe/Berlin.",
	"dashboards.legend":                 "Template for the name of a lock in legends, with labels of scope.labels; empty: {{job}} / {{lock_name}}.\nNames of locks on one panel should differ.",
	"dashboards.aliases":                "true adds a column with aliases to the table of locks; gen-dashboards aliases prints the rules for them.",
	"dashboards.folder":                 "Grafana folder of the dashboards; empty: the top-level folder.",
	"dashboards.path":                   "Directory from which Grafana loads the dashboard files.",

	"kubeStateMetrics":            "Settings for the source kube-state-metrics.",
	"kubeStateMetrics.staleAfter": "Age of the last renewal after which a Lease counts as free. Must exceed every lease duration, which\nkube-state-metrics does not export.",

	"kubernetes":                                             "Settings for the formats prometheusrule, configmap and grafana-operator.",
	"kubernetes.namespace":                                   "Namespace of the objects; empty: the namespace of the client that applies them.",
	"kubernetes.labels":                                      "Labels of every object.",
	"kubernetes.annotations":                                 "Annotations of every object.",
	"kubernetes.helm":                                        "true: the files are templates of a Helm chart. Braces in alert texts and legends are escaped, so that Helm\nrenders them unchanged.",
	"kubernetes.prometheusRule":                              "The rules for the Prometheus Operator.",
	"kubernetes.prometheusRule.name":                         "Name of the object.",
	"kubernetes.prometheusRule.labels":                       "Labels that the ruleSelector of Prometheus requires, such as release: kube-prometheus-stack. Without\nthem, the object is accepted but ignored.",
	"kubernetes.configMap":                                   "The dashboards for the sidecar of Grafana's Helm chart.",
	"kubernetes.configMap.name":                              "Prefix of the objects' names; -overview, -lock and so on are appended.",
	"kubernetes.configMap.label":                             "Label by which the sidecar finds the ConfigMaps: sidecar.dashboards.label of the chart.",
	"kubernetes.configMap.labelValue":                        "Value of that label: sidecar.dashboards.labelValue of the chart.",
	"kubernetes.configMap.folderAnnotation":                  "Annotation that names the folder: sidecar.dashboards.folderAnnotation of the chart; empty: none.",
	"kubernetes.grafanaOperator":                             "The dashboards for the Grafana Operator.",
	"kubernetes.grafanaOperator.name":                        "Prefix of the objects' names; -overview, -lock and so on are appended.",
	"kubernetes.grafanaOperator.instanceSelector":            "Labels of the Grafana objects that load the dashboards.",
	"kubernetes.grafanaOperator.instanceSelector.dashboards": "The label of the operator's examples.",
	"kubernetes.grafanaOperator.allowCrossNamespaceImport":   "true allows Grafana objects in other namespaces to load the dashboards.",

	"grafanaAlerting":               "Settings for the format grafana-alerting: rules that Grafana evaluates itself.",
	"grafanaAlerting.datasourceUID": "Uid of the Prometheus data source.",
	"grafanaAlerting.orgID":         "Id of the Grafana organisation.",
	"grafanaAlerting.folder":        "Grafana folder of the rules; created if it does not exist.",
	"grafanaAlerting.interval":      "Time between evaluations, a multiple of 10s.",
	"grafanaAlerting.uidPrefix":     "Prefix of the rules' uids. A second set of rules needs a prefix of its own.",

	"mimir":           "Settings for the format mimir.",
	"mimir.namespace": "Namespace of the ruler.",

	"alertmanager":              "Settings for the format alertmanager.",
	"alertmanager.receiver":     "Receiver of alerts that do not page, in the example route.",
	"alertmanager.pageReceiver": "Receiver of alerts that page.",
	"alertmanager.pageSeverity": "Severity that pages. An alert that pages mutes the alerts that it explains.",
}
