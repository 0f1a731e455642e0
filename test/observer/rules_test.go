package observer

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/promeval"
)

// rules reads the file that is shipped.
func rules(t *testing.T) []promeval.Rule {
	t.Helper()
	text, err := os.ReadFile("../../cmd/leader-observer/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr         string
				For                 time.Duration
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	var all []promeval.Rule
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			all = append(all, promeval.Rule{Name: r.Alert, Expr: r.Expr, For: r.For, Labels: r.Labels, Annotations: r.Annotations})
		}
	}
	return all
}

func series(m *catalog.Metric, labels, values string) promeval.Series {
	return promeval.Series{Selector: m.Name() + "{" + labels + "}", Values: values}
}

// Samples are 30 s apart, and the rules are evaluated as often.
func TestTheRulesFireAndStaySilent(t *testing.T) {
	const step = 30 * time.Second
	held := func(labels, values string) promeval.Series {
		return series(catalog.BackendHeld, `backend="kubernetes",`+labels, values)
	}
	up := series(catalog.BackendUp, `backend="kubernetes",instance="o"`, "1x60")
	lock := `instance="o",lock_name="ns/app"`
	process := func(instance, holder, active string) []promeval.Series {
		labels := fmt.Sprintf(`namespace="ns",job="app",instance=%q,lock_name="app"`, instance)
		return []promeval.Series{series(catalog.Active, labels, active), series(catalog.IdentityInfo, labels+fmt.Sprintf(`,holder=%q`, holder), "1x60")}
	}
	named := func(instance, holder, values string) promeval.Series {
		return series(catalog.BackendHolderInfo, fmt.Sprintf(`backend="kubernetes",namespace="ns",job="app",instance=%q,lock_name="app",holder=%q`, instance, holder), values)
	}
	for name, c := range map[string]struct {
		series []promeval.Series
		want   []string
	}{
		"a healthy lock":         {[]promeval.Series{up, held(lock, "1x60")}, nil},
		"a handover of a minute": {[]promeval.Series{up, held(lock, "1x10 0x1 1x40")}, nil},
		"a leader that is gone":  {[]promeval.Series{up, held(lock, "1x10 0x40")}, []string{"LeaderElectionVacant 6m30s open"}},
		"a leader that comes back": {[]promeval.Series{up, held(lock, "1x10 0x10 1x40")},
			[]string{"LeaderElectionVacant 6m30s 11m0s"}},
		"two observers, one of which is behind": {[]promeval.Series{up, held(lock, "0x60"), held(`instance="p",lock_name="ns/app"`, "1x60")}, nil},
		"a lock around jobs of Redis":           {[]promeval.Series{up, series(catalog.BackendHeld, `backend="redis",lock_name="job"`, "0x60")}, nil},
		"locks that share a label":              {[]promeval.Series{up, held(`lock_name="tenant-*"`, "0x60"), held(`lock_name="redacted"`, "0x60")}, nil},
		"a backend that is away": {[]promeval.Series{series(catalog.BackendUp, `backend="kubernetes",instance="o"`, "1x10 0x40"), held(lock, "1x10 stale _x40")},
			[]string{"LeaderElectionObserverBlind 10m30s open"}},
		"a backend that one of two sees":  {[]promeval.Series{up, series(catalog.BackendUp, `backend="kubernetes",instance="p"`, "0x60")}, nil},
		"no observer at all":              {nil, []string{"LeaderElectionObserverBlind 5m0s open"}},
		"a leader that the backend names": {append(process("a", "pod-a", "1x60"), up, named("a", "pod-a", "1x60")), nil},
		"a leader as another sees it":     {append(append(process("a", "pod-a", "1x60"), process("b", "pod-b", "0x60")...), up, named("b", "pod-a", "1x60")), nil},
		"an impostor": {append(append(process("a", "pod-a", "1x60"), process("b", "pod-b", "0x10 1x40")...), up, named("b", "pod-b", "_x10 1x40"), named("a", "pod-a", "1x10 stale")),
			[]string{"LeaderElectionImpostor 6m30s open"}},
		"a handover that takes a scrape":     {append(append(process("a", "pod-a", "1x11 0x40"), process("b", "pod-b", "0x10 1x40")...), up, named("b", "pod-b", "_x10 1x40")), nil},
		"a leader whose backend nobody sees": {append(process("a", "pod-a", "1x60"), up), nil},
		"holders without names":              {append(process("a", "redacted", "1x60"), up, named("b", "redacted", "1x60")), nil},
	} {
		t.Run(name, func(t *testing.T) {
			store, err := promeval.Load(c.series, step, promeval.V3)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range rules(t) {
				fired, err := store.Alerts(t.Context(), r, 25*time.Minute, step)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range fired {
					end := f.To.String()
					if f.Open {
						end = "open"
					}
					got = append(got, fmt.Sprintf("%s %v %s", r.Name, f.From, end))
					for key, text := range f.Annotations {
						if strings.Contains(text, "<no value>") || strings.Contains(text, "<error") || strings.Contains(text, "  ") {
							t.Errorf("%s: %s: %q", r.Name, key, text)
						}
					}
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
