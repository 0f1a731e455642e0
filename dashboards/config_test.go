package dashboards

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/internal/query"
)

func TestValidateNamesTheKeyThatCannotWork(t *testing.T) {
	cases := map[string]struct {
		change func(*Config)
		want   string
	}{
		"no lock_name":                  {func(c *Config) { c.Scope.Labels = []string{"job"} }, "scope.labels: lock_name is missing, so different locks would merge; add it"},
		"a label twice":                 {func(c *Config) { c.Scope.Labels = []string{"job", "job", "lock_name"} }, "scope.labels: must be different names of letters, digits and _, and none of datasource, le or __name"},
		"a label that is a variable":    {func(c *Config) { c.Scope.Labels = []string{"datasource", "lock_name"} }, "scope.labels: must be different names of letters, digits and _, and none of datasource, le or __name"},
		"a holder in the scope":         {func(c *Config) { c.Scope.Holder = "job" }, `scope.holder: "job" is among scope.labels, so that every replica would be a lock of its own; remove it there`},
		"no holder":                     {func(c *Config) { c.Scope.Holder = "" }, `scope.holder: "" is not a valid label name; use the label that tells replicas apart, such as instance or pod`},
		"half a selector":               {func(c *Config) { c.Scope.Selector = `a="b` }, `scope.selector: "a=\"b" is not a valid list of label matchers; write it as in team="shop"`},
		"a selector of the metric":      {func(c *Config) { c.Scope.Selector = `__name__="x"` }, `scope.selector: "__name__=\"x\"" is not a valid list of label matchers; write it as in team="shop"`},
		"a scrape interval of 0":        {func(c *Config) { c.Scope.ScrapeInterval = 0 }, "scope.scrapeInterval: 0s is shorter than Grafana's least step; use at least 1s"},
		"a share above 1":               {func(c *Config) { c.Thresholds.ErrorShare = 2 }, "thresholds: ratios must lie between 0 and 1, windows must be positive"},
		"a critical share below 0":      {func(c *Config) { c.Thresholds.ErrorShareCritical = -0.1 }, "thresholds: ratios must lie between 0 and 1, windows must be positive"},
		"a headroom that is no number":  {func(c *Config) { c.Thresholds.Headroom = math.NaN() }, "thresholds: ratios must lie between 0 and 1, windows must be positive"},
		"no window of errors":           {func(c *Config) { c.Thresholds.ErrorWindow = 0 }, "thresholds: ratios must lie between 0 and 1, windows must be positive"},
		"no window of leases":           {func(c *Config) { c.Thresholds.LeaseWindow = 0 }, "thresholds: ratios must lie between 0 and 1, windows must be positive"},
		"a Lease that is stale at once": {func(c *Config) { c.Thresholds.StaleAfter = 0 }, "staleAfter: must be positive"},
		"no lookback of Leases":         {func(c *Config) { c.Thresholds.VacantLookback = 0 }, "vacantLookback: must be positive"},
		"five dashboards, four uids":    {func(c *Config) { c.KubeStateMetrics.UID = c.ClientGo.UID }, "kubeStateMetrics.uid: leaderscope-client-go is the uid of another dashboard, and Grafana refuses two with one uid; use another"},
		"a uid of 41 characters":        {func(c *Config) { c.UID = "12345678901234567890123456789012345678901" }, `uid: "12345678901234567890123456789012345678901" is not a valid uid; use 1 to 40 letters, digits, - and _`},
		"no title":                      {func(c *Config) { c.Title = " " }, "title: must not be empty, Grafana refuses a dashboard without a title"},
		"a title of two lines":          {func(c *Config) { c.Title = "a\nb" }, "title: must not be empty, Grafana refuses a dashboard without a title"},
		"a title with a variable":       {func(c *Config) { c.Title = "Locks of ${job}" }, `title: "Locks of ${job}" has what Grafana reads as a variable; write it without $name and [[name]]`},
		"an older form of variables":    {func(c *Config) { c.Lock.Title = "Lock [[job]]" }, `lock.title: "Lock [[job]]" has what Grafana reads as a variable; write it without $name and [[name]]`},
		"two dashboards of one uid":     {func(c *Config) { c.Lock.UID = c.UID }, "lock.uid: leaderscope-overview is the uid of another dashboard, and Grafana refuses two with one uid; use another"},
		"a uid of the lock's with /":    {func(c *Config) { c.Lock.UID = "a/b" }, `lock.uid: "a/b" is not a valid uid; use 1 to 40 letters, digits, - and _`},
		"two dashboards of one title":   {func(c *Config) { c.Lock.Title = c.Title }, `lock.title: "Leader election / Overview" is the title of another dashboard; use another`},
		"no title of the lock's":        {func(c *Config) { c.Lock.Title = "" }, "lock.title: must not be empty, Grafana refuses a dashboard without a title"},
		"three dashboards, two uids":    {func(c *Config) { c.Backends.UID = c.Lock.UID }, "backends.uid: leaderscope-lock is the uid of another dashboard, and Grafana refuses two with one uid; use another"},
		"a tag that is empty":           {func(c *Config) { c.Tags = []string{"a", ""} }, "tags: one of them is empty; remove it"},
		"a start that is no time":       {func(c *Config) { c.From = "yesterday" }, `from: "yesterday" is not a valid start of a time range; write it as now-3h or now-1d/d`},
		"an end that is no time":        {func(c *Config) { c.To = "2026-01-01" }, `to: "2026-01-01" is not a valid end of a time range; write it as now or now-1d/d`},
		"an end before the start":       {func(c *Config) { c.From, c.To = "now-3h", "now-6h" }, `from: now-3h is not before to, which is now-6h, so the range would be empty; use an earlier time`},
		"no time zone":                  {func(c *Config) { c.Timezone = "" }, `timezone: "" is not a known time zone; use utc, browser, or a name such as Europe/Berlin`},
		"a refresh that is no time":     {func(c *Config) { c.Refresh = "often" }, `refresh: "often" is not a valid refresh interval; use one unit and at least 5s, such as 30s, 5m or 1h, or leave it empty`},
		"a legend without the lock":     {func(c *Config) { c.Legend = "{{job}}" }, `legend: "{{job}}" lacks {{lock_name}}, so that a reader could not tell locks apart; add it`},
		"a legend of strange labels":    {func(c *Config) { c.Legend = "{{pod}} {{lock_name}}" }, `legend: "{{pod}} {{lock_name}}" names pod, which scope.labels lacks; add it there, or remove it here`},
		"aliases of labels called so":   {func(c *Config) { c.Aliases, c.Scope.Labels = true, append(c.Scope.Labels, "alias") }, "aliases: alias is among scope.labels, where the column would hide it; remove it there, or use aliases: false"},
		"a path that is relative":       {func(c *Config) { c.Path = "dashboards" }, `path: "dashboards" is not an absolute path; start it with /`},
		"a path of two lines":           {func(c *Config) { c.Path = "/a\nb" }, `path: "/a\nb" is not an absolute path; start it with /`},
		"a runbook URL without scheme":  {func(c *Config) { c.RunbookURL = "runbooks" }, `runbookURL: "runbooks" is not a web address; start it with https:// or leave it empty`},
		"several at once": {func(c *Config) { c.Scope.Holder, c.UID, c.Timezone, c.Lock.UID = "a b", "a b", "Mars", "a/b" },
			`scope.holder: "a b" is not a valid label name; use the label that tells replicas apart, such as instance or pod` + "\n" +
				`timezone: "Mars" is not a known time zone; use utc, browser, or a name such as Europe/Berlin` + "\n" +
				`lock.uid: "a/b" is not a valid uid; use 1 to 40 letters, digits, - and _` + "\n" +
				`uid: "a b" is not a valid uid; use 1 to 40 letters, digits, - and _`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := Default()
			c.change(&cfg)
			err := cfg.Validate()
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			for _, all := range []map[string]func(Config) ([]byte, error){boards, foreignBoards} {
				for name, build := range all {
					if _, err := build(cfg); err == nil {
						t.Errorf("%s takes it", name)
					}
				}
			}
		})
	}
}

func TestASelectorMayHaveBraces(t *testing.T) {
	for _, selector := range []string{`a="b",c=~".*"`, `{a="b",c=~".*"}`, ` {a="b", c=~".*",} `} {
		got, err := Scope{Selector: selector}.matchers()
		if err != nil {
			t.Fatal(err)
		}
		want := []query.Matcher{query.Equal("a", "b"), query.Matches("c", ".*")}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", selector, diff)
		}
	}
}

func TestDurationsAreWrittenForPromQL(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"1d": 24 * time.Hour, "3h": 3 * time.Hour, "90m": 90 * time.Minute, "10m": 10 * time.Minute, "15s": 15 * time.Second, "1500ms": 1500 * time.Millisecond,
	} {
		if got := duration(d); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
