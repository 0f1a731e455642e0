package alerts

// Why VictoriaMetrics gives another verdict than Prometheus. Source: rollupDelta
// in app/vmselect/promql of VictoriaMetrics; first values of ten and more count
// only where the next sample is far from them.
const (
	// A server that starts, or that sees a label change, reports what small
	// counters did before.
	startsBeside reason = "counters stand above zero when the server starts, and their first samples count from zero"
	bornAbove    reason = "a counter begins above zero while it is watched, and its first sample counts from zero"
)

// onVictoriaMetrics are the verdicts of VictoriaMetrics that differ from those
// of Prometheus, by the titles of scenarios.
var onVictoriaMetrics = map[string]verdict{
	"A4 wins have stopped": {startsBeside, "NoAcquisition/warning 15m.."},
	"A8 a lock declared to run every minute is judged by the window":                    {startsBeside, "JobOverdue/warning 5m..\nNoAcquisition/warning 15m.."},
	"B6 Prometheus was away for three minutes":                                          {startsBeside, "Flapping/warning 1m..30m\nLeaseExceeded/critical 0s.."},
	"D1 two replicas take turns":                                                        {startsBeside, "Flapping/warning 9m.."},
	"D7 Prometheus starts beside ten replicas that have all led before":                 {startsBeside, "Flapping/warning 1m.."},
	"D8 ten replicas restart one after the other":                                       {startsBeside, "Flapping/warning 1m.."},
	"C28 a rolling restart of three, born at 0":                                         {startsBeside, "Flapping/warning 1m.."},
	"C28 a rolling restart of three, born at 1":                                         {startsBeside, "Flapping/warning 1m.."},
	"C28 a rolling restart of five, 30 s apart":                                         {startsBeside, "Flapping/warning 1m.."},
	"C28 a rolling restart of two with a gap of one lease":                              {startsBeside, "Flapping/warning 1m.."},
	"C39 leadership is lost and regained twice between samples":                         {startsBeside, "Flapping/warning 1m.."},
	"C39 leadership is lost and regained once an hour":                                  {startsBeside, "Flapping/warning 1m..30m"},
	"E5 attempts that hung for long fail, and none is started":                          {startsBeside, "BackendErrors/critical 1m30s..\nBackendErrors/warning 5m30s.."},
	"C12 ten pods cancel their calls during a rollout":                                  {startsBeside, "Flapping/warning 1m.."},
	"C27 errors of short-lived processes before their first sample":                     {bornAbove, "BackendErrors/critical 1m..15m\nNoAcquisition/warning 5m.."},
	"G4 slow runs of an hour ago, and fast ones since":                                  {startsBeside, "NearLease/warning 30s.."},
	"G5 a process with overruns of yesterday is first seen":                             {bornAbove, "LeaseExceeded/critical 10m.."},
	"G6 a restart in place starts its counters again":                                   {startsBeside, "LeaseExceeded/critical 0s..45m"},
	"T6 Prometheus starts beside a process that failed yesterday and runs well now":     {startsBeside, "TaskFailing/warning 0s.."},
	"T7 Prometheus starts beside a process whose only run failed yesterday":             {startsBeside, "TaskFailing/warning 0s.."},
	"C27 a process fails before its first sample, and did well before that":             {bornAbove, "TaskFailing/warning 5m.."},
	"K5 a process with regressions of yesterday is first seen":                          {bornAbove, "TokenRegressed/critical 10m.."},
	"C27 a fresh process goes back before its first sample":                             {bornAbove, "TokenRegressed/critical 5m.."},
	"B25 no replica of sixty leads, and each campaigns":                                 {startsBeside, "NoAcquisition/warning 5m..\nNoLeader/critical 1m30s.."},
	"D12 ten replicas with lasting names restart one after the other":                   {startsBeside, "Flapping/warning 1m.."},
	"D13 two of twenty replicas fight every minute":                                     {startsBeside, "Flapping/warning 5m.."},
	"D14 leadership moves every five minutes all day":                                   {startsBeside, "Flapping/warning 1h30m.."},
	"D15 three deployments of five replicas in six hours":                               {startsBeside, "Flapping/warning 1m..6h"},
	"L2 a process with overruns of yesterday has none today":                            {startsBeside, "LeaseExceeded/critical 0s.."},
	"L3 a restart in place starts the overruns again":                                   {startsBeside, "LeaseExceeded/critical 0s.."},
	"A12 a lock declared to run every four minutes is judged by the window":             {startsBeside, "JobOverdue/warning 10m..\nNoAcquisition/warning 15m.."},
	"D19 a rollout turns a held lock into one around runs every half minute":            {startsBeside, "Flapping/warning 8m..34m30s"},
	"T18 one of two runs before the first sample fails, seen by two Prometheus servers": {bornAbove, "TaskFailing/warning 10m.."},
	"T21 Prometheus starts beside a process whose only run failed 90 minutes ago":       {startsBeside, "TaskFailing/warning 0s.."},
	"D17 seven handovers in a rollout of three: more than it explains":                  {startsBeside, "Flapping/warning 1m..\nFlapping/warning 30m.."},
}
