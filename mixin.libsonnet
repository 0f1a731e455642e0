// leaderscope for those who build their monitoring with jsonnet: the generated
// dashboards and rules in the fields that mixins have.
//
//   jb install github.com/leaderscope/leaderscope@main
//   local leaderscope = import 'github.com/leaderscope/leaderscope/mixin.libsonnet';
//
// The files have the default configuration. For another one, run gen-dashboards
// with --format grafana,prometheus and import what it writes in the same way.
{
  grafanaDashboardFolder: 'Leader election',

  grafanaDashboards+:: {
    'leaderscope-overview.json': import 'dashboards/generated/grafana/leaderscope/overview.json',
    'leaderscope-lock.json': import 'dashboards/generated/grafana/leaderscope/lock.json',
  },

  prometheusAlerts+:: std.parseYaml(importstr 'alerts/generated/prometheus/leaderscope-rules.yaml'),

  prometheusRules+:: { groups: [] },
}
