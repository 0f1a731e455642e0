package main

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/spf13/cobra"
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
	at := yaml.CommentMap{}
	walk(plain, func(path string, _, _ ast.Node) {
		if comment, aside := commentOn(path); comment != "" {
			at["$."+path] = []*yaml.Comment{commentAt(comment, aside)}
		}
	})
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

// commentOn finds the comment on a key: its own, or that of a knob which many
// alerts have, which then stands beside the value.
func commentOn(path string) (comment string, aside bool) {
	if c, ok := comments[path]; ok {
		return c, false
	}
	return knobs[path[strings.LastIndex(path, ".")+1:]], true
}

// knobs are keys that many alerts have.
var knobs = map[string]string{
	"enabled":       "false: leave the alert out",
	"severity":      "value of severityLabel",
	"for":           "how long it must be true before the alert fires; 0s: at once",
	"keepFiringFor": "how long the alert outlives its cause; 0s: not",
	"window":        "time that is looked at",
	"minTimes":      "how often it must happen in the window",
	"minFailures":   "least number of failures in the window",
	"lookback":      "how long what is gone is missed",
	"share":         "share of attempts, 0 to 1, above which it fires",
}

var comments = map[string]string{
	"scope":                "Which series are read. Rules and dashboards share it.",
	"scope.labels":         "Labels that tell locks apart; lock_name must be among them. A lock shared between\nclusters needs cluster taken out. Labels that no series has do no harm.",
	"scope.holder":         "Label that tells replicas apart: instance, or pod on Kubernetes. Every series must have it.",
	"scope.selector":       "Restricts everything to matching series, as in team=\"shop\".",
	"scope.scrapeInterval": "Time between two samples of a series.",

	"recording": "true: rules record one series per lock, which the overview reads in place of those of every replica. For hundreds of locks.",

	"alerts":                  "Alerting rules.",
	"alerts.group":            "The rule group.",
	"alerts.group.name":       "Name of the group.",
	"alerts.group.interval":   "Time between evaluations; 0s: the server's own.",
	"alerts.severityLabel":    "Label that carries the severity.",
	"alerts.labels":           "Labels added to every alert.",
	"alerts.annotations":      "Annotations added to every alert.",
	"alerts.runbookBaseURL":   "Where the runbooks are; empty: no links to them.",
	"alerts.dashboardBaseURL": "Grafana's address, as in https://grafana.example.org; empty: links are paths.",

	"alerts.noAcquisition":           "Attempts are made and none wins.",
	"alerts.noLeader":                "A lock that is meant to be held has no holder.",
	"alerts.noLeader.leaseFactor":    "So many leases may a lock go without a leader before the time of for begins; 0: none.",
	"alerts.noLeader.lookback":       "How far back the last leader is searched.",
	"alerts.noLeader.critical":       "While no target went down within deadAfter.",
	"alerts.noLeader.warning":        "While one did, so that the leader may be alive there.",
	"alerts.noLeader.deadAfter":      "How long a target must be down to be taken for dead.",
	"alerts.splitBrain":              "More leaders than the elector allows.",
	"alerts.flapping":                "Leadership of a held lock changes hands too often.",
	"alerts.flapping.handovers":      "So many handovers in the window are tolerated, or one more than there are replicas.",
	"alerts.backendErrors":           "Attempts meet backend errors.",
	"alerts.backendErrors.recent":    "The last error must be younger than this.",
	"alerts.backendErrors.minErrors": "Least number of errors in the window.",
	"alerts.backendErrors.critical":  "Only while nobody leads.",
	"alerts.backendErrors.warning":   "Whether or not somebody leads.",
	"alerts.renewalFailures":         "Renewals of a lease fail, by an error or their deadline.",
	"alerts.renewalFailures.recent":  "The last failure must be younger than this.",
	"alerts.renewalFailures.share":   "Share of renewals, 0 to 1, above which it fires.",
	"alerts.nearLease":               "Runs or renewals come close to the end of their lease.",
	"alerts.leaseExceeded":           "Terms run past the end of their lease.",
	"alerts.lowHeadroom":             "A lease that is held runs out now; alerts.nearLease is about those that were renewed or given back late.",
	"alerts.lowHeadroom.share":       "Share of the lease, 0 to 1, below which it fires.",
	"alerts.workAfterLoss":           "Work goes on after its lock is gone.",
	"alerts.workAfterLoss.tolerance": "So much work after loss is tolerated in the window.",
	"alerts.jobOverdue":              "A lock with a declared interval was not acquired in time.",
	"alerts.jobOverdue.intervals":    "So many intervals may pass since the last acquisition.",
	"alerts.jobOverdue.grace":        "Added to that, for the time until a scrape and clocks that differ.",
	"alerts.jobOverdue.lookback":     "How far back acquisitions by replicas that are gone are searched; longer than intervals times the\nlongest interval. The samples of this time are read at each evaluation.",
	"alerts.jobOverdue.interval":     "Time between evaluations, in a group of its own; 0s: that of the group.",
	"alerts.taskFailing":             "Guarded bodies return errors or panic.",
	"alerts.taskFailing.share":       "Share of runs, 0 to 1, above which it fires; 0: every failure.",
	"alerts.tokenRegressed":          "A fencing token was lower than one before it.",
	"alerts.metricsAbsent":           "No replica exports anything about leader election.",
	"alerts.lockVanished":            "A lock that was led, or declared to run, has no series any more, while its job has. Where locks come and\ngo, severity: info or enabled: false.",
	"alerts.scrapeFailing":           "Replicas that exported metrics cannot be scraped.",
	"alerts.redactionKeyMismatch":    "Replicas of a job turn lock names into labels in different ways, for longer than a rollout takes.",
	"alerts.labelOverflow":           "Locks share the overflow label, because there are more than the cap on labels allows.",

	"dashboards":            "Grafana dashboards.",
	"dashboards.uid":        "Identity of the overview: 1 to 40 letters, digits, - and _. A fork needs its own. Alerts link to it.",
	"dashboards.title":      "Name of the overview.",
	"dashboards.lock":       "The dashboard of one lock.",
	"dashboards.lock.uid":   "Its identity, as above.",
	"dashboards.lock.title": "Its name.",
	"dashboards.tags":       "Tags that help to find them.",
	"dashboards.refresh":    "Time between two reloads; empty: none.",
	"dashboards.from":       "Start of the time range shown first.",
	"dashboards.to":         "End of the time range shown first.",
	"dashboards.timezone":   "utc, browser, or a name such as Europe/Berlin.",
	"dashboards.legend":     "Names a lock in legends, from scope.labels; empty: {{job}} / {{lock_name}}. It should tell apart\nevery lock that is shown at once.",
	"dashboards.aliases":    "true: the table of locks has a column with the aliases that gen-dashboards aliases makes rules of.",
	"dashboards.folder":     "Folder of Grafana that shows the dashboards; empty: the top one.",
	"dashboards.path":       "Directory in which Grafana finds the dashboards' files.",

	"kubernetes":                                             "What the formats prometheusrule, configmap and grafana-operator make.",
	"kubernetes.namespace":                                   "Namespace of the objects; empty: that of whoever applies them.",
	"kubernetes.labels":                                      "Labels of every object.",
	"kubernetes.annotations":                                 "Annotations of every object.",
	"kubernetes.helm":                                        "true: the files are templates of a Helm chart, which would take the braces of alert texts and\nlegends for its own; they are written so that the chart renders them as they are now.",
	"kubernetes.prometheusRule":                              "The rules for the Prometheus Operator.",
	"kubernetes.prometheusRule.name":                         "Name of the object.",
	"kubernetes.prometheusRule.labels":                       "Labels that the ruleSelector of Prometheus asks for, as in release: kube-prometheus-stack. Without\nthem the object is accepted and ignored.",
	"kubernetes.configMap":                                   "The dashboards for the sidecar of Grafana's Helm chart.",
	"kubernetes.configMap.name":                              "Beginning of the objects' names; -overview and -lock follow.",
	"kubernetes.configMap.label":                             "Label by which the sidecar finds them: sidecar.dashboards.label of the chart.",
	"kubernetes.configMap.labelValue":                        "Its value: sidecar.dashboards.labelValue of the chart.",
	"kubernetes.configMap.folderAnnotation":                  "Annotation that names the folder: sidecar.dashboards.folderAnnotation of the chart; empty: none.",
	"kubernetes.grafanaOperator":                             "The dashboards for the Grafana Operator.",
	"kubernetes.grafanaOperator.name":                        "Beginning of the objects' names; -overview and -lock follow.",
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
