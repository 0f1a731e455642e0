package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// gathered is what /metrics would show.
func gathered(t *testing.T, g prometheus.Gatherer) series {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := series{}
	for _, f := range families {
		for _, m := range f.Metric {
			all[f.GetName()+labels(m)] = value(m)
		}
	}
	return all
}

func TestAfterAGracefulStopOursIsZeroAndClientGosIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		n, err := newNode("node-1", fake.NewClientset(), "default", "lease", func(e event) { said = append(said, e.Kind) })
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- n.run(ctx) }()
		time.Sleep(5*retryPeriod + retryPeriod/2) // between two renewals
		leading := gathered(t, n.metrics())
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		gone := gathered(t, n.metrics())
		for _, c := range []struct {
			when   string
			shown  series
			metric string
			want   float64
		}{
			{"while it leads", leading, catalog.Active.Name, 1},
			{"while it leads", leading, catalog.Running.Name, 1},
			{"while it leads", leading, clientGo, 1},
			{"after the stop", gone, catalog.Active.Name, 0},
			{"after the stop", gone, catalog.Running.Name, 0},
			{"after the stop", gone, catalog.TermsEnded.Name + `{cause="released"}`, 1},
			{"after the stop", gone, clientGo, 1}, // client-go does not tell its hook
		} {
			if got := c.shown.sum(c.metric); got != c.want {
				t.Errorf("%s %s is %v, want %v", c.when, c.metric, got, c.want)
			}
		}
		if got := strings.Join(said, " "); got != "leads over" {
			t.Errorf("the node said %q", got)
		}
	})
}
