//go:build integration

package faults

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// outage keeps a replica from its server; connections end, or no answer comes.
type outage struct {
	name        string
	begin, stop func(*process) error
}

var outages = []outage{
	{
		name:  "cut",
		begin: func(p *process) error { p.proxy.Stop(); return nil },
		stop:  func(p *process) error { return p.proxy.Start() },
	},
	{
		name: "silent",
		begin: func(p *process) error {
			const toxic = `{"name":"silent","type":"timeout","stream":"upstream","toxicity":1,"attributes":{"timeout":0}}`
			_, err := p.proxy.Toxics.AddToxicJson(strings.NewReader(toxic))
			return err
		},
		stop: func(p *process) error { return p.proxy.Toxics.RemoveToxic(context.Background(), "silent") },
	},
}

// What a graceful stop may add to the counters when the server is out of reach.
var (
	// notGivenBack: the release failed, and the lock stays until its lease ends.
	notGivenBack = electtest.Series{endedBy(catalog.ReleaseFailed): 1, releasedWith(catalog.ReleaseError): 1}
	// goneBefore: the lock went with its connection.
	goneBefore = electtest.Series{endedBy(catalog.Lost): 1, releasedWith(catalog.ReleaseNotOwner): 1}
	// givenUp: a renewal that the stop cut short.
	givenUp = electtest.Series{renewedWith(catalog.RenewalCanceled): 1}
	// notTold: the library does not say that a release failed.
	notTold = electtest.Series{endedBy(catalog.Released): 1, releasedWith(catalog.ReleaseOK): 1}
)

// partings are by server and, if need be, kind of outage, or by elector.
// notGivenBack is right for all others.
var partings = map[string][]electtest.Series{
	"postgres cut": {goneBefore},
	"mariadb cut":  {goneBefore},
	// The last renewal may have been on its way.
	"kube-apiserver": {notGivenBack, notGivenBack.With(givenUp)},
	"pglock":         {notGivenBack, notGivenBack.With(givenUp)},
	"rueidislock":    {notGivenBack, notTold, goneBefore},
}

func (e elector) partings(outage string) []electtest.Series {
	for _, key := range []string{e.name, e.server + " " + outage, e.server} {
		if p, ok := partings[key]; ok {
			return p
		}
	}
	return []electtest.Series{notGivenBack}
}

// stoppedIn stops a leader gracefully that cannot reach its server. It ends
// within the time of a release, says that the lock was not released, and the
// next one leads when the server has freed it.
func (c *cluster) stoppedIn(o outage) func(*testing.T) {
	return func(t *testing.T) {
		c.leader(t, 2*c.ttl())
		before := c.calm(t)
		old := c.leader(t, c.ttl())
		if err := o.begin(old); err != nil {
			t.Fatal(err)
		}
		asked := time.Now()
		last, err := old.quit()
		if err != nil {
			t.Fatal(err)
		}
		if took, most := time.Since(asked), instrument.DefaultReleaseTimeout+c.ttl()+5*time.Second; took > most {
			t.Errorf("%s stopped after %v, want within %v", old.id, took, most)
		}
		s := last.Series
		if s[of(catalog.Active)]+s[of(catalog.Running)]+s[of(catalog.Pending)] != 0 || last.Broken != "" {
			t.Errorf("%s: something is open after a graceful stop: %s %v", old.id, last.Broken, s)
		}
		c.parted(t, old, before, rareOf(s), c.elector.partings(o.name))
		next := c.leaderBut(t, old, 2*c.ttl())
		t.Logf("%s followed %s after %.1f s", next.id, old.id, time.Since(asked).Seconds())
		if err := o.stop(old); err != nil {
			t.Fatal(err)
		}
		old.start()
		eventually(t, old, "it takes part again", func(s electtest.Series) bool { return s[of(catalog.Attempts)] > 0 })
	}
}

// parted compares all counters, of the leader as it stopped and of the others.
func (c *cluster) parted(t *testing.T, old *process, before counts, last electtest.Series, ways []electtest.Series) {
	t.Helper()
	got := c.counted()
	got[old] = last
	var wrong []string
	for _, growth := range ways {
		d := differs(got, before.with(old, growth))
		if d == "" {
			return
		}
		wrong = append(wrong, d)
	}
	t.Error(strings.Join(wrong, "; or "))
}
