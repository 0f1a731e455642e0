// Package dashboards builds Grafana dashboards from the catalogue of metrics.
//
//	cfg := dashboards.Default()
//	cfg.Scope.Holder = "pod"
//	overview, err := dashboards.Overview(cfg)
//	err = os.WriteFile("leaderscope-overview.json", overview, 0o644)
//
// A row is a function, a panel is a function, and a dashboard is the list of
// its rows. Nothing is written here: cmd/gen-dashboards does that.
package dashboards

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

// Config says how a dashboard looks and which series it reads. Start from
// [Default]; the zero value is not valid. It is plain data: copies share
// their slices.
//
// Scope, Thresholds, RunbookURL and Recording are settings that rules have too,
// so that a configuration file states them once, outside the dashboards' section.
type Config struct {
	// Scope says which series are read and what identifies a lock.
	Scope Scope `yaml:"-"`
	// Thresholds are drawn on panels.
	Thresholds Thresholds `yaml:"-"`
	// RunbookURL is the address of the runbooks; empty for no link.
	RunbookURL string `yaml:"-"`
	// Source is the exporter whose series [All] shows; the zero value is leaderscope.
	Source Source `yaml:"-"`
	// Recording: the overview reads the recorded series, so the recording rules of the
	// same configuration must be loaded.
	Recording bool `yaml:"-"`

	// UID identifies the overview: 1 to 40 letters, digits, - and _. A modified copy
	// needs a uid of its own, because Grafana refuses two dashboards with one uid.
	UID string `yaml:"uid"`
	// Title is the title of the overview.
	Title string `yaml:"title"`
	// Lock is the dashboard of one lock.
	Lock Identity `yaml:"lock"`
	// Backends is the dashboard of the backends.
	Backends Identity `yaml:"backends"`
	// ClientGo is the only dashboard of the source client-go.
	ClientGo Identity `yaml:"clientGo"`
	// KubeStateMetrics is the only dashboard of the source kube-state-metrics.
	KubeStateMetrics Identity `yaml:"kubeStateMetrics"`
	// Tags are the tags of the dashboards; the list may be empty, its elements not.
	Tags []string `yaml:"tags"`
	// Refresh is the refresh interval in one unit, such as 30s, 5m or 1h; at least 5s,
	// the minimum of Grafana's default configuration; empty for none.
	Refresh string `yaml:"refresh"`
	// From and To are the default time range in Grafana's notation, such as now-3h or
	// now-1d/d. From is before To.
	From string `yaml:"from"`
	To   string `yaml:"to"`
	// Timezone is utc, browser, or a name such as Europe/Berlin.
	Timezone string `yaml:"timezone"`
	// Legend names a lock in legends, in Grafana's {{label}} notation, from
	// labels of the scope. Names of locks on one panel should differ. Empty means
	// {{job}} / {{lock_name}}, or {{lock_name}} alone if job is not in the scope.
	Legend string `yaml:"legend"`
	// Aliases adds a column to the table of locks, with the aliases that the
	// rules of gen-dashboards aliases record. All users of the table can read them.
	Aliases bool `yaml:"aliases"`
	// Folder is the Grafana folder of the dashboards; empty for the top-level folder.
	Folder string `yaml:"folder"`
	// Path is the directory from which Grafana loads the dashboard files.
	Path string `yaml:"path"`
}

// Identity identifies a dashboard.
type Identity struct {
	// UID is 1 to 40 letters, digits, - and _.
	UID string `yaml:"uid"`
	// Title is the title of the dashboard.
	Title string `yaml:"title"`
}

// Scope says which series are read and what identifies a lock.
type Scope struct {
	// Labels identify one lock across its replicas. lock_name is among them;
	// each of them becomes a variable of the dashboard. A label that series
	// lack does no harm.
	Labels []string
	// Reporter are those of Labels that identify the process that reports the state of
	// a backend, and not the lock.
	Reporter []string
	// Holder is the label that identifies a replica.
	Holder string
	// Selector restricts every query, in PromQL's notation with or without
	// braces, such as team="shop"; empty for everything.
	Selector string
	// MetricPrefix is the prefix or namespace that an exporter adds to every metric
	// name.
	MetricPrefix string
	// Histograms is the form of histograms that panels read: "classic", the default,
	// which every server supports, "native" or "both". VictoriaMetrics refuses queries
	// of native histograms.
	Histograms string
	// ScrapeInterval is the time between two scrapes. Panels use no shorter window, so
	// that a rate always has two samples.
	ScrapeInterval time.Duration
}

// Thresholds are the thresholds of the alerts, which panels draw.
type Thresholds struct {
	// ErrorShare and ErrorShareCritical are shares of attempts, 0 to 1, that
	// met a backend error within ErrorWindow.
	ErrorShare, ErrorShareCritical float64
	ErrorWindow                    time.Duration
	// MinErrors is the minimum number of errors that counts.
	MinErrors int
	// Headroom is the share of the lease, 0 to 1, that should be left.
	Headroom float64
	// LeaseWindow is the lookback window for runs that came near their lease.
	LeaseWindow time.Duration
	// StaleAfter is the age of the last renewal after which a Lease of kube-state-metrics
	// counts as free, and VacantLookback the age after which it counts as retired.
	StaleAfter, VacantLookback time.Duration
}

// Default returns the configuration for most installations: a scrape interval of at
// most 30 seconds, and locks identified by cluster, namespace, job and name.
func Default() Config {
	return Config{
		Scope: Scope{
			Labels:         []string{"cluster", "namespace", "job", catalog.LockName.Name()},
			Reporter:       []string{"namespace", "job"},
			Holder:         "instance",
			Histograms:     "classic",
			ScrapeInterval: 30 * time.Second,
		},
		Thresholds: Thresholds{
			ErrorShare: 0.1, ErrorShareCritical: 0.5, ErrorWindow: 10 * time.Minute, MinErrors: 3,
			Headroom: 0.2, LeaseWindow: 30 * time.Minute, StaleAfter: 90 * time.Second, VacantLookback: 6 * time.Hour,
		},
		RunbookURL:       "https://github.com/leaderscope/leaderscope/blob/main/alerts/runbooks",
		UID:              panel.OverviewUID,
		Title:            "Leader election / Overview",
		Lock:             Identity{UID: panel.LockUID, Title: "Leader election / Lock"},
		Backends:         Identity{UID: panel.BackendsUID, Title: "Leader election / Backends"},
		ClientGo:         Identity{UID: panel.ClientGoUID, Title: "Leader election / client-go"},
		KubeStateMetrics: Identity{UID: panel.KubeStateMetricsUID, Title: "Leader election / Leases"},
		Tags:             []string{"leaderscope", "leader-election"},
		Refresh:          "30s",
		From:             "now-3h",
		To:               "now",
		Timezone:         "utc",
		Folder:           "Leader election",
		Path:             "/etc/grafana/provisioning/dashboards/leaderscope",
	}
}

var (
	uidPattern    = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)
	labelPattern  = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
	legendPattern = regexp.MustCompile(`\{\{\s*(.*?)\s*\}\}`)
)

// A KeyError is an invalid setting.
type KeyError struct {
	// Key is the setting as written in a configuration file.
	Key string
	// Problem says what is wrong, and what to write instead.
	Problem string
}

// Error names the key first.
func (e *KeyError) Error() string { return e.Key + ": " + e.Problem }

// Validate reports every invalid setting, as [*KeyError] joined with
// [errors.Join].
func (c Config) Validate() error {
	var named []string
	for _, m := range legendPattern.FindAllStringSubmatch(c.legend(), -1) {
		named = append(named, m[1])
	}
	foreign := slices.DeleteFunc(slices.Clone(named), func(l string) bool { return slices.Contains(c.Scope.Labels, l) })
	checks := append(c.Scope.checks(), c.timeChecks()...)
	checks = append(checks, c.Lock.checks("lock", Identity{c.UID, c.Title})...)
	checks = append(checks, c.Backends.checks("backends", Identity{c.UID, c.Title}, c.Lock)...)
	checks = append(checks, c.ClientGo.checks("clientGo", Identity{c.UID, c.Title}, c.Lock, c.Backends)...)
	checks = append(checks, c.KubeStateMetrics.checks("kubeStateMetrics", Identity{c.UID, c.Title}, c.Lock, c.Backends, c.ClientGo)...)
	return problems(append(checks,
		check{"staleAfter", c.Thresholds.StaleAfter > 0, "must be positive"},
		check{"vacantLookback", c.Thresholds.VacantLookback > 0, "must be positive"},
		check{"thresholds", c.Thresholds.valid(), "ratios must lie between 0 and 1, windows must be positive"},
		check{"uid", uidPattern.MatchString(c.UID), fmt.Sprintf("%q is not a valid uid; use 1 to 40 letters, digits, - and _", c.UID)},
		check{"title", isTitle(c.Title), "must not be empty, Grafana refuses a dashboard without a title"},
		check{"title", !variables.MatchString(c.Title), fmt.Sprintf(readsAsVariable, c.Title)},
		check{"tags", !slices.ContainsFunc(c.Tags, isBlank), "one of them is empty; remove it"},
		check{"legend", slices.Contains(named, catalog.LockName.Name()), fmt.Sprintf("%q lacks {{lock_name}}, so that a reader could not tell locks apart; add it", c.Legend)},
		check{"legend", c.Legend == "" || len(foreign) == 0, fmt.Sprintf("%q names %s, which scope.labels lacks; add it there, or remove it here", c.Legend, strings.Join(foreign, ", "))},
		check{"aliases", !c.Aliases || !slices.Contains(c.Scope.Labels, query.AliasLabel), query.AliasLabel + " is among scope.labels, where the column would hide it; remove it there, or use aliases: false"},
		check{"path", strings.HasPrefix(c.Path, "/") && !strings.ContainsFunc(c.Path, unicode.IsControl), fmt.Sprintf("%q is not an absolute path; start it with /", c.Path)},
		check{"runbookURL", c.RunbookURL == "" || isWebURL(c.RunbookURL), fmt.Sprintf("%q is not a web address; start it with https:// or leave it empty", c.RunbookURL)},
	))
}

// checks validates the identity of a further dashboard.
func (i Identity) checks(key string, others ...Identity) []check {
	all := []check{
		{key + ".title", !variables.MatchString(i.Title), fmt.Sprintf(readsAsVariable, i.Title)},
		{key + ".title", isTitle(i.Title), "must not be empty, Grafana refuses a dashboard without a title"},
		{key + ".uid", uidPattern.MatchString(i.UID), fmt.Sprintf("%q is not a valid uid; use 1 to 40 letters, digits, - and _", i.UID)},
	}
	for _, o := range others {
		all = append(all,
			check{key + ".uid", i.UID != o.UID, fmt.Sprintf("%s is the uid of another dashboard, and Grafana refuses two with one uid; use another", i.UID)},
			check{key + ".title", i.Title != o.Title, fmt.Sprintf("%q is the title of another dashboard; use another", i.Title)})
	}
	return all
}

func (c Config) legend() string {
	switch {
	case c.Legend != "":
		return c.Legend
	case slices.Contains(c.Scope.Labels, "job"):
		return "{{job}} / {{lock_name}}"
	}
	return "{{lock_name}}"
}

func (s Scope) checks() []check {
	_, selectorErr := s.matchers()
	return []check{
		{"scope.labels", slices.Contains(s.Labels, catalog.LockName.Name()), "lock_name is missing, so different locks would merge; add it"},
		{"scope.labels", isSet(s.Labels), "must be different names of letters, digits and _, and none of datasource, le or __name"},
		{"scope.holder", isLabel(s.Holder), fmt.Sprintf("%q is not a valid label name; use the label that tells replicas apart, such as instance or pod", s.Holder)},
		{"scope.holder", !slices.Contains(s.Labels, s.Holder), fmt.Sprintf("%q is among scope.labels, so that every replica would be a lock of its own; remove it there", s.Holder)},
		{"scope.selector", selectorErr == nil, fmt.Sprintf("%q is not a valid list of label matchers; write it as in team=\"shop\"", s.Selector)},
		{"scope.histograms", s.knowsHistograms(), fmt.Sprintf("%q is not a known form of histograms; use classic, native or both", s.Histograms)},
		{"scope.scrapeInterval", s.ScrapeInterval >= time.Second, fmt.Sprintf("%s is shorter than Grafana's least step; use at least 1s", s.ScrapeInterval)},
	}
}

func (t Thresholds) valid() bool {
	for _, ratio := range []float64{t.ErrorShare, t.ErrorShareCritical, t.Headroom} {
		if !(ratio >= 0 && ratio <= 1) {
			return false
		}
	}
	return t.ErrorWindow > 0 && t.LeaseWindow > 0
}

type check struct {
	key     string
	ok      bool
	problem string
}

// problems returns the first failed check of each key.
func problems(checks []check) error {
	var bad []error
	reported := map[string]bool{}
	for _, c := range checks {
		if !c.ok && !reported[c.key] {
			bad = append(bad, &KeyError{Key: c.key, Problem: c.problem})
			reported[c.key] = true
		}
	}
	return errors.Join(bad...)
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

func isTitle(s string) bool { return !isBlank(s) && !strings.ContainsFunc(s, unicode.IsControl) }

// readsAsVariable is the problem of a title in which links of other dashboards would
// expand a variable.
const readsAsVariable = "%q has what Grafana reads as a variable; write it without $name and [[name]]"

// isLabel refuses names that a dashboard variable cannot have: Grafana's own
// variables start with __, and datasource is used.
func isLabel(name string) bool {
	return labelPattern.MatchString(name) && !strings.HasPrefix(name, "__") &&
		name != datasourceVariable && name != model.BucketLabel
}

func isSet(names []string) bool {
	for i, l := range names {
		if !isLabel(l) || slices.Contains(names[:i], l) {
			return false
		}
	}
	return true
}

func isWebURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// forms are the forms of histograms by their names.
var forms = map[string]query.Histograms{
	"": query.ClassicHistograms, "classic": query.ClassicHistograms, "native": query.NativeHistograms, "both": query.BothHistograms,
}

func (s Scope) knowsHistograms() bool {
	_, known := forms[s.Histograms]
	return known
}

func (s Scope) histograms() query.Histograms { return forms[s.Histograms] }

// matchers parses the selector.
func (s Scope) matchers() ([]query.Matcher, error) {
	list := strings.TrimSpace(s.Selector)
	if strings.HasPrefix(list, "{") && strings.HasSuffix(list, "}") {
		list = list[1 : len(list)-1]
	}
	if list == "" {
		return nil, nil
	}
	// The name lets the parser take matchers that could match nothing, such
	// as team=~".*".
	parsed, err := parser.NewParser(parser.Options{}).ParseMetricSelector("{__name__=\"x\"," + list + "}")
	if err != nil {
		return nil, err
	}
	var matchers []query.Matcher
	for _, m := range parsed[1:] {
		if m.Name == model.MetricNameLabel {
			return nil, fmt.Errorf("a selector cannot choose the metric")
		}
		matchers = append(matchers, query.Matcher{Label: m.Name, Op: m.Type.String(), Value: m.Value})
	}
	return matchers, nil
}
