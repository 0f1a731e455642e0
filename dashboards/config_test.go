package dashboards

import (
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
		"no lock_name":                 {func(c *Config) { c.Scope.Labels = []string{"job"} }, "scope.labels: must contain lock_name, or locks cannot be told apart"},
		"a label twice":                {func(c *Config) { c.Scope.Labels = []string{"job", "job", "lock_name"} }, "scope.labels: must be different names of letters, digits and _, and none of datasource, le or __name"},
		"a label that is a variable":   {func(c *Config) { c.Scope.Labels = []string{"datasource", "lock_name"} }, "scope.labels: must be different names of letters, digits and _, and none of datasource, le or __name"},
		"a holder in the scope":        {func(c *Config) { c.Scope.Holder = "job" }, `scope.holder: "job" is among scope.labels, so that every replica would be a lock of its own`},
		"no holder":                    {func(c *Config) { c.Scope.Holder = "" }, `scope.holder: "" is not a label name`},
		"half a selector":              {func(c *Config) { c.Scope.Selector = `a="b` }, `scope.selector: "a=\"b" is not a list of matchers such as team="shop"`},
		"a selector of the metric":     {func(c *Config) { c.Scope.Selector = `__name__="x"` }, `scope.selector: "__name__=\"x\"" is not a list of matchers such as team="shop"`},
		"a scrape interval of 0":       {func(c *Config) { c.Scope.ScrapeInterval = 0 }, "scope.scrapeInterval: 0s is shorter than 1s"},
		"a share above 1":              {func(c *Config) { c.Thresholds.ErrorShare = 2 }, "thresholds: ratios must lie between 0 and 1, windows must be positive"},
		"a uid of 41 characters":       {func(c *Config) { c.UID = "12345678901234567890123456789012345678901" }, `uid: "12345678901234567890123456789012345678901" is not 1 to 40 letters, digits, - or _`},
		"no title":                     {func(c *Config) { c.Title = "" }, "title: must not be empty"},
		"two dashboards of one uid":    {func(c *Config) { c.Lock.UID = c.UID }, "lock.uid: is that of the overview; Grafana refuses two dashboards with one uid"},
		"a uid of the lock's with /":   {func(c *Config) { c.Lock.UID = "a/b" }, `lock.uid: "a/b" is not 1 to 40 letters, digits, - or _`},
		"two dashboards of one title":  {func(c *Config) { c.Lock.Title = c.Title }, "lock.title: must not be empty, nor the overview's"},
		"a refresh that is no time":    {func(c *Config) { c.Refresh = "often" }, `refresh: "often" is not a time such as 30s`},
		"a start that is no time":      {func(c *Config) { c.From = "yesterday" }, `from: "yesterday" is not a time such as now-3h`},
		"no time zone":                 {func(c *Config) { c.Timezone = "" }, "timezone: must not be empty; utc is a good choice"},
		"a legend without the lock":    {func(c *Config) { c.Legend = "{{job}}" }, `legend: "{{job}}" does not contain {{lock_name}}`},
		"a legend of strange labels":   {func(c *Config) { c.Legend = "{{pod}} {{lock_name}}" }, `legend: "{{pod}} {{lock_name}}" names pod, which scope.labels does not`},
		"a path that is relative":      {func(c *Config) { c.Path = "dashboards" }, `path: "dashboards" is not an absolute path`},
		"a runbook URL without scheme": {func(c *Config) { c.RunbookURL = "runbooks" }, `runbookURL: "runbooks" is not an http or https URL`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := Default()
			c.change(&cfg)
			err := cfg.Validate()
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			for name, build := range boards {
				if _, err := build(cfg); err == nil {
					t.Errorf("%s takes it", name)
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
