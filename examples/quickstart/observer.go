package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/scrape"
	"github.com/prometheus/prometheus/tsdb"
)

// observer is a Prometheus inside this process: it scrapes the replicas each
// second and evaluates the rules each second, with Prometheus' own packages.
type observer struct {
	db      *tsdb.DB
	engine  *promql.Engine
	scrapes *scrape.Manager
	rules   *rules.Manager
	targets chan map[string][]*targetgroup.Group
	running sync.WaitGroup
	// others are the programs that are no replicas: address by job.
	others map[string]string

	mu       sync.Mutex
	fired    map[alarm]bool
	episodes map[string]episode
}

// alarm is one alert of one lock, as far as the demo distinguishes them.
type alarm struct {
	Name     string
	Severity string
	Lock     string // label
}

// newObserver keeps its data below dir and loads one file of rules.
func newObserver(dir, rulesFile string) (*observer, error) {
	o := &observer{targets: make(chan map[string][]*targetgroup.Group), fired: map[alarm]bool{}, episodes: map[string]episode{}, others: map[string]string{}}
	opts := tsdb.DefaultOptions()
	opts.WALSegmentSize = -1 // nothing here outlives the process
	var err error
	if o.db, err = tsdb.Open(filepath.Join(dir, "tsdb"), promslog.NewNopLogger(), nil, opts, nil); err != nil {
		return nil, err
	}
	promQL := parser.NewParser(parser.Options{})
	o.engine = promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: 10 * time.Second, Parser: promQL,
		EnableAtModifier: true, EnableNegativeOffset: true,
		NoStepSubqueryIntervalFn: func(int64) int64 { return time.Second.Milliseconds() }})
	o.scrapes, err = scrape.NewManager(
		// Without these a first scrape is five seconds away.
		&scrape.Options{DiscoveryReloadOnStartup: true, DiscoveryReloadInterval: model.Duration(100 * time.Millisecond)},
		promslog.NewNopLogger(), nil, nil, o.db, unregistered{})
	if err != nil {
		return nil, err
	}
	o.rules = rules.NewManager(&rules.ManagerOptions{
		Context: context.Background(), Logger: promslog.NewNopLogger(), Registerer: unregistered{},
		Appendable: o.db, Queryable: o.db, QueryFunc: rules.EngineQueryFunc(o.engine, o.db),
		NotifyFunc: o.notify, Parser: promQL,
	})
	return o, o.run(rulesFile)
}

func (o *observer) run(rulesFile string) error {
	cfg, err := config.Load(prometheusYAML(rulesFile, ""), promslog.NewNopLogger())
	if err != nil {
		return fmt.Errorf("scrape configuration: %w", err)
	}
	if err := o.scrapes.ApplyConfig(cfg); err != nil {
		return err
	}
	if err := o.rules.Update(time.Second, []string{rulesFile}, labels.EmptyLabels(), "", nil); err != nil {
		return fmt.Errorf("load %s: %w", rulesFile, err)
	}
	o.running.Go(func() { _ = o.scrapes.Run(o.targets) }) // never returns an error
	o.running.Go(o.rules.Run)
	return nil
}

// close stops scraping and evaluating.
func (o *observer) close() error {
	o.rules.Stop()
	o.scrapes.Stop()
	o.running.Wait()
	return o.db.Close()
}

// scrape replaces the targets: instance name and address.
func (o *observer) scrape(addresses map[string]string) {
	sets := map[string][]*targetgroup.Group{jobName: targetsOf(addresses)}
	for job, address := range o.others {
		sets[job] = targetsOf(map[string]string{job: address})
	}
	o.targets <- sets
}

func targetsOf(addresses map[string]string) (groups []*targetgroup.Group) {
	for name, address := range addresses {
		groups = append(groups, &targetgroup.Group{
			Source:  name,
			Targets: []model.LabelSet{{model.AddressLabel: model.LabelValue(address)}},
			Labels:  model.LabelSet{model.InstanceLabel: model.LabelValue(name)},
		})
	}
	return groups
}

// query returns the value for each instance.
func (o *observer) query(ctx context.Context, expr string) (map[string]float64, error) {
	vector, err := rules.EngineQueryFunc(o.engine, o.db)(ctx, expr, time.Now())
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", expr, err)
	}
	values := map[string]float64{}
	for _, sample := range vector {
		values[sample.Metric.Get(model.InstanceLabel)] = sample.F
	}
	return values, nil
}

// notify is called with every alert that begins, continues or ends.
func (o *observer) notify(_ context.Context, _ string, alerts ...*rules.Alert) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, a := range alerts {
		if a.State == rules.StateFiring {
			o.fired[alarmOf(a)] = true
		}
		o.keep(a)
	}
}

// episode is one time that an alert fired, with what it said first. Its end is
// zero while it fires.
type episode struct {
	alarm
	Summary, Description string
	Begin, End           time.Time
}

func (o *observer) keep(a *rules.Alert) {
	id := a.Labels.String() + a.FiredAt.String()
	e, known := o.episodes[id]
	if !known {
		e = episode{alarm: alarmOf(a), Summary: a.Annotations.Get("summary"), Description: a.Annotations.Get("description"), Begin: a.FiredAt}
	}
	e.End = a.ResolvedAt
	o.episodes[id] = e
}

// history returns every episode in the order of their begin.
func (o *observer) history() []episode {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.SortedFunc(maps.Values(o.episodes), func(a, b episode) int {
		return cmp.Or(a.Begin.Compare(b.Begin), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Lock, b.Lock))
	})
}

// spans returns the times in which an expression had a value, by instance.
func (o *observer) spans(ctx context.Context, expr, text string, from, to time.Time) ([]span, error) {
	const step = time.Second
	q, err := o.engine.NewRangeQuery(ctx, o.db, nil, expr, from, to, step)
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", expr, err)
	}
	defer q.Close()
	matrix, err := q.Exec(ctx).Matrix()
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", expr, err)
	}
	var all []span
	for _, series := range matrix {
		lane := series.Metric.Get(model.InstanceLabel)
		for i, point := range series.Floats {
			at := time.UnixMilli(point.T)
			if i == 0 || at.After(all[len(all)-1].End) {
				all = append(all, span{Lane: lane, Text: text, Begin: at})
			}
			all[len(all)-1].End = at.Add(step)
		}
	}
	return all, nil
}

// forget begins a new record of what fired.
func (o *observer) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.fired)
}

// record is what fired since the last forget.
func (o *observer) record() []alarm {
	o.mu.Lock()
	defer o.mu.Unlock()
	return sorted(o.fired)
}

// current is what is pending and what is firing now.
func (o *observer) current() (pending, firing []alarm) {
	seen := map[rules.AlertState]map[alarm]bool{rules.StatePending: {}, rules.StateFiring: {}}
	for _, rule := range o.rules.AlertingRules() {
		for _, a := range rule.ActiveAlerts() {
			if of := seen[a.State]; of != nil {
				of[alarmOf(a)] = true
			}
		}
	}
	return sorted(seen[rules.StatePending]), sorted(seen[rules.StateFiring])
}

// unhealthy returns the first rule that could not be evaluated.
func (o *observer) unhealthy() error {
	for _, rule := range o.rules.AlertingRules() {
		if err := rule.LastError(); err != nil {
			return fmt.Errorf("rule %s: %w", rule.Name(), err)
		}
	}
	return nil
}

func alarmOf(a *rules.Alert) alarm {
	return alarm{
		Name:     a.Labels.Get(model.AlertNameLabel),
		Severity: a.Labels.Get(severityLabel),
		Lock:     a.Labels.Get(lockLabel),
	}
}

// writePrivate writes a file that no other user may read.
func writePrivate(file string, content []byte) error { return os.WriteFile(file, content, 0o600) }
