package alerts

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEveryRuleHasADetection(t *testing.T) {
	all, err := Detect(Default(), Pace{Lease: 15 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, d := range all {
		told[Prefix+d.Alert+"/"+d.Severity] = true
		if d.From == "" || d.Unseen == "" || d.Soonest < 0 || d.Latest <= d.Soonest {
			t.Errorf("%+v", d)
		}
	}
	for _, r := range rulesOf(t, Default()) {
		if !told[r.Name+"/"+r.Severity] {
			t.Errorf("%s %s has none", r.Name, r.Severity)
		}
	}
}

func TestDetectionFollowsTheConfiguration(t *testing.T) {
	c := Default()
	c.Alerts.each(func(_ string, a alert) {
		if a.about().Alert != "SplitBrain" && a.about().Alert != "Overlap" && a.about().Alert != "NoStandby" {
			switchOff(reflect.ValueOf(a).Elem())
		}
	})
	c.Alerts.SplitBrain.For = span(50)
	const s = time.Second
	cases := map[string]struct {
		change func(*Config)
		pace   Pace
		want   [][2]time.Duration
	}{
		"evaluated as often as scraped":     {func(*Config) {}, Pace{}, [][2]time.Duration{{61 * s, 121 * s}, {0, 150 * s}, {600 * s, 930 * s}}},
		"evaluated by the server's default": {func(*Config) {}, Pace{Evaluation: 20 * s}, [][2]time.Duration{{61 * s, 111 * s}, {0, 150 * s}, {600 * s, 930 * s}}},
		"the group's own interval":          {func(c *Config) { c.Group.Interval = span(15) }, Pace{Evaluation: 20 * s}, [][2]time.Duration{{61 * s, 106 * s}, {0, 150 * s}, {600 * s, 930 * s}}},
		"scraped every minute":              {func(c *Config) { c.ScrapeInterval = span(60) }, Pace{}, [][2]time.Duration{{61 * s, 181 * s}, {0, 180 * s}, {600 * s, 960 * s}}},
		"one alert switched off":            {func(c *Config) { c.Alerts.NoStandby.Enabled = false }, Pace{}, [][2]time.Duration{{61 * s, 121 * s}, {0, 150 * s}}},
	}
	for name, x := range cases {
		t.Run(name, func(t *testing.T) {
			c := c
			x.change(&c)
			all, err := Detect(c, x.pace)
			if err != nil {
				t.Fatal(err)
			}
			var got [][2]time.Duration
			for _, d := range all {
				got = append(got, [2]time.Duration{d.Soonest, d.Latest})
			}
			if diff := cmp.Diff(x.want, got); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}

func TestDetectRefusesWhatValidateRefuses(t *testing.T) {
	if _, err := Detect(Config{}, Pace{}); err == nil {
		t.Error("want an error")
	}
}
