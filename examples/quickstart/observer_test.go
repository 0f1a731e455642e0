package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// target is a replica that says of lock x what the test wants.
type target struct {
	*httptest.Server
	active atomic.Int64
}

func newTarget(t *testing.T) *target {
	t.Helper()
	fake := &target{}
	fake.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "%s{%s=\"x\"} %d\n%s{%[2]s=\"x\"} 1\n", catalog.Active.Name(), lockLabel, fake.active.Load(), catalog.MaxLeaders.Name())
	}))
	t.Cleanup(fake.Close)
	return fake
}

func (f *target) address() string { return strings.TrimPrefix(f.URL, "http://") }

func TestObserverScrapesTargetsAndEvaluatesTheGeneratedRules(t *testing.T) {
	goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Cleanup(func() { goleak.VerifyNone(t) })
	one, two := newTarget(t), newTarget(t)
	o := testObserver(t)
	one.active.Store(1)
	o.scrape(map[string]string{"one": one.address(), "two": two.address()})
	wantActive(t, o, map[string]float64{"one": 1, "two": 0})

	two.active.Store(1)
	split := []alarm{{prefix + "SplitBrain", "critical", "x"}}
	eventually(t, "SplitBrain fires", func() bool {
		_, firing := o.current()
		return cmp.Equal(split, firing)
	})
	one.active.Store(0)
	eventually(t, "SplitBrain resolves", func() bool {
		_, firing := o.current()
		return len(firing) == 0
	})
	if diff := cmp.Diff(split, o.record()); diff != "" {
		t.Errorf("fired: %s", diff)
	}
	wantEpisode(t, o)
	o.forget()
	if fired := o.record(); len(fired) != 0 {
		t.Errorf("still on record: %v", fired)
	}

	o.scrape(map[string]string{"two": two.address()})
	wantActive(t, o, map[string]float64{"two": 1})
	if err := o.unhealthy(); err != nil {
		t.Error(err)
	}
}

// wantEpisode looks at what the report is made of.
func wantEpisode(t *testing.T, o *observer) {
	t.Helper()
	var all []episode
	eventually(t, "the end is on record", func() bool {
		all = o.history()
		return len(all) == 1 && !all[0].End.IsZero()
	})
	e := all[0]
	if want := (alarm{prefix + "SplitBrain", "critical", "x"}); e.alarm != want || !e.End.After(e.Begin) {
		t.Errorf("got %+v, want %v with an end after its begin", e, want)
	}
	if !strings.Contains(e.Summary, "x") || !strings.Contains(e.Description, "one") || !strings.Contains(e.Description, "two") {
		t.Errorf("it says %q and %q, want lock and replicas in it", e.Summary, e.Description)
	}
	leads, err := o.spans(t.Context(), catalog.Active.Name()+" == 1", "leads", e.Begin.Add(-time.Minute), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range leads {
		got = append(got, s.Lane)
		if !s.End.After(s.Begin) {
			t.Errorf("%+v has no length", s)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"one", "two"}, got); diff != "" {
		t.Errorf("leaders: %s", diff)
	}
}

func wantActive(t *testing.T, o *observer, want map[string]float64) {
	t.Helper()
	eventually(t, fmt.Sprintf("%v are active", want), func() bool {
		got, err := o.query(t.Context(), catalog.Active.Name())
		return err == nil && cmp.Equal(want, got)
	})
}

func testObserver(t *testing.T) *observer {
	t.Helper()
	dir := t.TempDir()
	rules, err := alerts.YAML(demoAlerts())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "rules.yml")
	if err := os.WriteFile(file, rules, 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := newObserver(dir, file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

// eventually polls for something that must become true.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	err := until(t.Context(), what, 30*time.Second, func() (bool, error) { return cond(), nil })
	if err != nil {
		t.Fatal(err)
	}
}
