package alerts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/promeval"
)

// Rules can be evaluated with any series: no join finds two partners,
// and no two results become one alert. Replicas disagree about mode, family
// and limits, two servers see the same target, and targets have labels that
// rules might use for themselves.
func TestNoSeriesMakeARuleFail(t *testing.T) {
	rules := rulesOf(t, Default())
	rapid.Check(t, func(t *rapid.T) {
		var series []promeval.Series
		seen := map[string]bool{}
		for range rapid.IntRange(1, 25).Draw(t, "series") {
			s := anySeries(t)
			if !seen[s.Selector] {
				seen[s.Selector] = true
				series = append(series, s)
			}
		}
		store, err := promeval.Load(series, 30*time.Second, promeval.V3)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rules {
			if _, err := store.Alerts(t.Context(), r.evaluated(), 16*time.Minute, 4*time.Minute); err != nil {
				t.Fatalf("%v\n%v", err, series)
			}
		}
	})
}

// anySeries draws a series of the catalogue, or of up.
func anySeries(t *rapid.T) promeval.Series {
	one := func(name string, values ...string) string {
		return fmt.Sprintf("%s=%q", name, rapid.SampledFrom(values).Draw(t, name))
	}
	labels := []string{one("job", "a", "b"), one("instance", "i1", "i2"), one("prometheus_replica", "0", "1"), one("part", "won", "grown")}
	name := "up"
	if m := rapid.SampledFrom(append(catalog.All(), nil)).Draw(t, "metric"); m != nil {
		name = m.Name()
		if m.PerLock() {
			labels = append(labels, one("lock_name", "x", "y", "redacted"))
		}
		for _, l := range m.Labels() {
			labels = append(labels, one(l.Name(), append(l.Values(), "orders")...))
		}
		if m.Kind() == catalog.Histogram {
			name = rapid.SampledFrom([]string{m.Count(), m.Sum(), m.Bucket()}).Draw(t, "part of the histogram")
			if name == m.Bucket() {
				labels = append(labels, one("le", "0.8", "0.9", "+Inf"))
			}
		}
	}
	values := rapid.SampledFrom([]string{"0x40", "1x40", "0+1x40", "1x9 stale", "_x12 1+3x20", "0x5 1x5 0x5 1x40", "9x9 0+1x30"}).Draw(t, "values")
	return promeval.Series{Selector: name + "{" + strings.Join(labels, ",") + "}", Values: values}
}
