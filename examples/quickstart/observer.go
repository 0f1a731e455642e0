package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

	mu    sync.Mutex
	fired map[alarm]bool
}

// alarm is one alert of one lock, as far as the demo distinguishes them.
type alarm struct {
	Name     string
	Severity string
	Lock     string // label
}

// newObserver keeps its data below dir and loads one file of rules.
func newObserver(dir, rulesFile string) (*observer, error) {
	o := &observer{targets: make(chan map[string][]*targetgroup.Group), fired: map[alarm]bool{}, others: map[string]string{}}
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
	cfg, err := config.Load(prometheusYAML(rulesFile, nil, nil), promslog.NewNopLogger())
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
	}
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

// prometheusYAML is the configuration of this observer, and of a real
// Prometheus that is to see the same: 1 s between scrapes, 1 s between
// evaluations. Every job is there from the start, with or without targets.
func prometheusYAML(rulesFile string, addresses, others map[string]string) string {
	var y strings.Builder
	fmt.Fprintf(&y, "global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\nrule_files: [%q]\nscrape_configs:\n", rulesFile)
	job := func(name string, addresses map[string]string) {
		fmt.Fprintf(&y, "- job_name: %s\n  static_configs:\n", name)
		if len(addresses) == 0 {
			y.WriteString("  - targets: []\n")
		}
		for _, instance := range sortedNames(addresses) {
			fmt.Fprintf(&y, "  - targets: [%q]\n    labels: {instance: %q}\n", addresses[instance], instance)
		}
	}
	for _, name := range []string{outsideName, storeName} {
		if address, runs := others[name]; runs {
			job(name, map[string]string{name: address})
		} else {
			job(name, nil)
		}
	}
	job(jobName, addresses)
	return y.String()
}

// writePrivate writes a file that no other user may read.
func writePrivate(file string, content []byte) error { return os.WriteFile(file, content, 0o600) }
