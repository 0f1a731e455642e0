// leaderscope for those who build their monitoring with jsonnet.
//
//   jb install github.com/leaderscope/leaderscope@main
//   local leaderscope = import 'github.com/leaderscope/leaderscope/mixin.libsonnet';
//   leaderscope + { _config+:: { leaderscope+: { selector: 'team="orders"' } } }
//
// This is the mixin of the default configuration. For one with other windows,
// labels or formats, run gen-dashboards with --format mixin --config FILE and
// import the mixin.libsonnet that it writes.
import 'alerts/generated/mixin/mixin.libsonnet'
