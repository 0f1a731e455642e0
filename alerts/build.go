package alerts

import (
	"fmt"
	"time"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/query"
)

// The label of a lock is kept by every expression; alerts that take a label
// for one lock leave out those that locks share (C21).
var single = query.SingleLock()

// The rules support this whole range of scrape intervals, independent of the
// configured one: one rules file may serve targets with several intervals.
const (
	shortestScrape = model.Duration(15 * time.Second)
	longestScrape  = model.Duration(60 * time.Second)
)

// slowest is the longest time between two samples that the rules must support.
func (c Config) slowest() model.Duration {
	switch {
	case c.ScrapeInterval < shortestScrape:
		return c.ScrapeInterval
	case c.ScrapeInterval > longestSample: // refused, and no reason to refuse more
		return longestScrape
	}
	return max(c.ScrapeInterval, longestScrape)
}

// sample is the time between two samples as configured.
func (c Config) sample() model.Duration {
	if c.ScrapeInterval > longestSample { // refused, and no reason to refuse more
		return 0
	}
	return c.ScrapeInterval
}

// fresh is the maximum age of the last sample of a series that still exists.
func (c Config) fresh() model.Duration { return c.slowest() * 5 / 4 }

// gap is how long a rollout may leave a lock without a series.
func (c Config) gap() model.Duration { return 5 * c.slowest() }

// coarseSteps is the number of steps of a subquery with a long lookback: reading
// each sample would cost a hundred times as much, and exceed the limit of promtool.
const coarseSteps = 12

func (b builder) coarse(lookback model.Duration) string {
	return model.Duration(max(time.Duration(b.slowest()), (time.Duration(lookback) / coarseSteps).Round(time.Second))).String()
}

// exporting keeps the jobs that export metrics of locks.
func (b builder) exporting() query.Expr {
	return query.By("group", b.scope.TargetLabels(), b.scope.Metric(catalog.Active))
}

// ago is the Unix time of d before now.
func (b builder) ago(d model.Duration) query.Expr {
	return query.Op(query.Call("time"), "-", seconds(d))
}

// counted are the events of a counter whose series starts during the life of a
// process, possibly with an event. If Prometheus already had samples of a counter
// that exists from the start of the process, the first sample counts as an increase;
// otherwise it may be old history (B6). After a restart in place, the series is
// missing until its next event (L3).
func (b builder) counted(counter query.Expr, window string, matchers ...query.Matcher) query.Expr {
	attempts := b.scope.Metric(catalog.Attempts, matchers...)
	grown := part("grown", query.Op(query.Over("increase", counter, window), ">", "0"))
	late := query.Op(query.Over("count_over_time", counter, window), "<", query.Over("count_over_time", attempts, window))
	return query.Op(grown, "or", part("born", query.Op(query.Op(counter, ">", "0"), "and", late)))
}

// part keeps two vectors with equal labels apart below one "or". No series of
// a server has a label that begins with __.
func part(name string, e query.Expr) query.Expr {
	return query.Call("label_replace", e, query.Text("__part__"), query.Text(name), query.Text(""), query.Text(""))
}

// events is a threshold that n events do not pass and n+1 do: increase
// extrapolates, and one event can read 1.1.
func events(n int) query.Expr { return query.Number(float64(n) + 0.5) }

// atLeast is a threshold that n events pass and n-1 do not.
func atLeast(n int) query.Expr { return events(n - 1) }

func seconds(d model.Duration) query.Expr { return query.Number(time.Duration(d).Seconds()) }

func half(d model.Duration) model.Duration {
	return model.Duration((time.Duration(d) / 2).Truncate(time.Millisecond))
}

func sprint(v any) string { return fmt.Sprint(v) }
