package registerer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/exporter/internal/registerer"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// silent takes everything and says nothing, as a wrapper of nothing does.
type silent struct{ registered int }

func (s *silent) Register(prometheus.Collector) error  { s.registered++; return nil }
func (s *silent) MustRegister(...prometheus.Collector) {}
func (s *silent) Unregister(prometheus.Collector) bool { s.registered--; return true }

// failing refuses with words of its own.
type failing struct {
	silent
	words string
}

func (f *failing) Register(prometheus.Collector) error { return errors.New(f.words) }

// described is how a registry prints a description that it refuses.
func described(name, labels string) string {
	return `descriptor Desc{fqName: ` + name + `, help: "h", constLabels: {` + labels + `}, variableLabels: {}} is invalid`
}

func with(name string) prometheus.Labels { return prometheus.Labels{name: "x"} }

func TestARegistererThatChangesNamesIsRefused(t *testing.T) {
	var none *prometheus.Registry
	wrap := prometheus.WrapRegistererWith
	prefix := prometheus.WrapRegistererWithPrefix
	cases := map[string]struct {
		registerer prometheus.Registerer
		constant   prometheus.Labels
		names      string // what the error names; "" is no error
	}{
		"a registry":                         {registerer: prometheus.NewRegistry()},
		"a pedantic registry":                {registerer: prometheus.NewPedanticRegistry()},
		"one that says nothing":              {registerer: &silent{}},
		"one that fails in its own words":    {registerer: &failing{words: "fqName: closed"}},
		"one that describes another series":  {registerer: &failing{words: described(`"app_other"`, `le="x"`)}},
		"one that describes nothing":         {registerer: &failing{words: described(`"\q"`, `le="x"`)}},
		"one that describes what is asked":   {registerer: &failing{words: described(`"leaderscope_probe"`, ``)}},
		"one that describes a prefix":        {registerer: &failing{words: described(`"a\"b_leaderscope_probe"`, ``)}, names: `"a\"b_"`},
		"one that describes two labels":      {registerer: &failing{words: described(`"leaderscope_probe"`, `zone="b",pool="\",le=\""`)}, constant: with("zone"), names: `"zone"`},
		"one that describes no text":         {registerer: &failing{words: described(`"leaderscope_probe"`, `pool="\xff"`)}, names: `"pool"`},
		"one that describes the second":      {registerer: &failing{words: described(`"leaderscope_probe"`, `zone="b",pool="\",le=\""`)}, constant: with("pool"), names: `"pool"`},
		"a wrapper of nothing":               {registerer: prefix("app_", nil)},
		"labels that are free":               {registerer: wrap(prometheus.Labels{"pool": `a, le="x"} \`, "zone": "b"}, prometheus.NewRegistry()), constant: with("app")},
		"a label that no series can have":    {registerer: prometheus.NewRegistry(), constant: with("le"), names: `"le"`},
		"nothing":                            {names: "no registerer"},
		"a nil registry":                     {registerer: none, names: "no registerer"},
		"a prefix":                           {registerer: prefix("app_", prometheus.NewRegistry()), names: `"app_"`},
		"a prefix within labels":             {registerer: wrap(with("pool"), prefix("app_", prometheus.NewRegistry())), names: `"app_"`},
		"labels within a prefix":             {registerer: prefix("b_", wrap(with("pool"), prefix("a_", prometheus.NewRegistry()))), names: `"a_b_"`},
		"a wrapper's le":                     {registerer: wrap(with("le"), prometheus.NewRegistry()), names: `"le"`},
		"a wrapper's lock_name, further in":  {registerer: wrap(with("pool"), wrap(with("lock_name"), prometheus.NewRegistry())), names: `"lock_name"`},
		"a wrapper's label that we have too": {registerer: wrap(with("pool"), prometheus.NewRegistry()), constant: with("pool"), names: `"pool"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := registerer.Check(c.registerer, c.constant)
			if (err != nil) != (c.names != "") || err != nil && !strings.Contains(err.Error(), c.names) {
				t.Errorf("%v, want one that names %s", err, c.names)
			}
			if s, ok := c.registerer.(*silent); ok && s.registered != 0 {
				t.Errorf("%d collectors left behind", s.registered)
			}
		})
	}
}

func TestALabelThatNoSeriesCanHaveIsNamed(t *testing.T) {
	refused := []string{"", "a\xff", "__name__", "__x", "--x", "le", "quantile", "lock_name", "lock.name", "lock-name"}
	for _, m := range catalog.All() {
		for _, l := range m.Labels() {
			refused = append(refused, l.Name())
		}
	}
	for _, name := range refused {
		if err := registerer.CheckLabels(with(name)); err == nil || !strings.Contains(err.Error(), "constant label ") {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"app", "job", "instance", "_x", "Le", "k8s.pod"} {
		if err := registerer.CheckLabels(with(name)); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := registerer.CheckLabels(prometheus.Labels{"app": "\xff"}); err == nil || !strings.Contains(err.Error(), `"app"`) {
		t.Errorf("an invalid value: %v", err)
	}
	if err := registerer.CheckLabels(prometheus.Labels{"k8s.pod": "a", "k8s_pod": "b"}); err == nil || !strings.Contains(err.Error(), `"k8s_pod"`) {
		t.Errorf("two that are one when escaped: %v", err)
	}
}
