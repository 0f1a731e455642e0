package dashboards

import (
	"slices"
	"strings"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/query"
)

// Source is the exporter whose series dashboards show. It has the values of the key
// source in a configuration file; the zero value is that of this project.
type Source string

// The sources of other projects.
const (
	FromClientGo         Source = "client-go"
	FromKubeStateMetrics Source = "kube-state-metrics"
)

// foreignQueries reads the series of another project.
type foreignQueries struct {
	queries
	// source selects the series, with the labels of the scope as they are configured.
	source query.Scope
	// targets selects series of scrape targets, which name no lock.
	targets query.Scope
}

// newForeignQueries replaces the labels of the scope by those with which another
// project names a lock.
func newForeignQueries(cfg Config, q queries, labels func(query.Scope) []string) (foreignQueries, error) {
	if err := cfg.Validate(); err != nil {
		return foreignQueries{}, err
	}
	f := foreignQueries{source: query.Scope{Labels: cfg.Scope.Labels, Reporter: cfg.Scope.Reporter, Holder: cfg.Scope.Holder}}
	q.cfg = cfg
	q.cfg.Scope.Labels = labels(f.source)
	var err error
	if f.queries, err = q.selecting(); err != nil {
		return foreignQueries{}, err
	}
	f.source.TargetMatchers = f.locks.TargetMatchers
	f.targets = f.source
	f.targets.TargetMatchers = slices.DeleteFunc(slices.Clone(f.locks.TargetMatchers), func(m query.Matcher) bool { return m == q.chosen(q.lock) })
	return f, nil
}

// foreignLegend names a lock by another label.
func (c Config) foreignLegend(lock string) string {
	return legendPattern.ReplaceAllStringFunc(c.legend(), func(s string) string {
		return strings.Replace(s, catalog.LockName.Name(), lock, 1)
	})
}
