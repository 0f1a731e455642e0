//go:build integration

package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/test/electors"
	"github.com/leaderscope/leaderscope/test/server"
)

// patience is added to every bound: a loaded machine is no fault of an elector.
const patience = time.Minute

func TestElectors(t *testing.T) {
	for place, e := range table {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			s, err := server.Start(e.server)
			if errors.Is(err, server.ErrMissing) && os.Getenv("LEADERSCOPE_ALL_SERVERS") == "" {
				t.Skipf("SKIPPED %s: %v", e.name, err)
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			row := newRow(place, e, s.Version())
			row.run(t, "conformance suite", func(t *testing.T) { e.conformance(t, s) })
			c := newCluster(t, e, s, row)
			defer c.close()
			row.run(t, "contention by three processes", c.contention)
			row.run(t, "latency just under the renew deadline", c.latency)
			row.run(t, "connection cut for less than the lease", c.shortCut)
			row.run(t, "connection cut for more than the lease", c.longCut)
			row.run(t, "SIGSTOP past the lease and SIGCONT", c.pause)
			row.run(t, "SIGKILL of the holder", c.murder)
			row.run(t, "backend restart", c.restart)
			row.run(t, "record deleted while its session lives", c.recordDeleted)
			for _, o := range outages {
				row.run(t, "graceful stop under a "+o.name+" connection", c.stoppedIn(o))
			}
			row.run(t, "graceful stop", c.goodbye)
			row.write(t)
		})
	}
}

func (e elector) conformance(t *testing.T, s server.Server) {
	address := s.Addresses()[0]
	id := func(t testing.TB) string { return fmt.Sprintf("%s-%d", t.Name(), time.Now().UnixNano()) }
	lose := func(t testing.TB, lock string) { e.lose(t, address, lock) }
	if e.campaign != nil {
		electtest.CampaignConformance(t, electtest.CampaignSuite{
			Run: func(ctx context.Context, t testing.TB, lock string, election *instrument.Election, work func(context.Context)) error {
				return e.campaign(ctx, electors.Replica{Address: address, Lock: lock, ID: id(t)}, election, work)
			},
			Options: e.options, Lease: e.lease, Fenced: e.fenced, Works: e.works, Lose: lose,
		})
		return
	}
	electtest.Conformance(t, electtest.Suite{
		New: func(t testing.TB, lock string) instrument.Acquirer {
			a, closing, err := electors.Connected(t.Context(), e.connect, electors.Replica{Address: address, Lock: lock, ID: id(t)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(closing)
			return a
		},
		Options: e.options, Lease: e.lease, Waits: e.waits, Fenced: e.fenced,
		RenewsItself: e.renews || e.bound, RenewsOnDemand: e.demand || e.body != nil, HidesRenewals: e.hidden, KeepsQuiet: e.body != nil,
		Lose: lose, LossWithin: e.within,
	})
}

// cluster is three replicas of one elector before one server.
type cluster struct {
	t       *testing.T
	elector elector
	server  server.Server
	row     *row
	all     []*process
	woke    time.Time // when a suspended leader was continued
	blind   []span    // when a holder cannot know yet that its record is gone
}

func newCluster(t *testing.T, e elector, s server.Server, r *row) *cluster {
	t.Helper()
	c := &cluster{t: t, elector: e, server: s, row: r}
	lock := fmt.Sprintf("faults-%d", time.Now().UnixNano())
	for i := range 3 {
		addresses := s.Addresses()
		proxy, err := electors.NewProxy(addresses[i%len(addresses)])
		if err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("replica-%d", i+1)
		p := &process{t: t, id: id, proxy: proxy, order: order{Elector: e.name, Address: proxy.Listen, Lock: lock, ID: id}}
		c.all = append(c.all, p)
		p.start()
	}
	return c
}

func (c *cluster) close() {
	for _, p := range c.all {
		p.kill()
		p.proxy.Stop()
	}
}

// ttl is how long the server keeps the lock of a holder that is gone.
func (c *cluster) ttl() time.Duration { return max(c.elector.lease, c.elector.within) }

// leader waits until exactly one process leads; within is beyond what is owed
// to a loaded machine.
func (c *cluster) leader(t *testing.T, within time.Duration) *process {
	t.Helper()
	return c.leaderBut(t, nil, within)
}

// leaderBut waits for a leader that is not old.
func (c *cluster) leaderBut(t *testing.T, old *process, within time.Duration) *process {
	t.Helper()
	deadline := time.Now().Add(within + patience)
	for time.Now().Before(deadline) {
		var leaders []*process
		for _, p := range c.all {
			if p != old && p.leads() {
				leaders = append(leaders, p)
			}
		}
		if len(leaders) == 1 {
			return leaders[0]
		}
		time.Sleep(50 * time.Millisecond)
	}
	for _, p := range c.all {
		t.Logf("%s: %v", p.id, p.now())
	}
	t.Fatalf("no leader within %v", within+patience)
	return nil
}

// eventually waits for a reading of p.
func eventually(t *testing.T, p *process, what string, ok func(electtest.Series) bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		if r := p.now(); r.Series != nil && ok(r.Series) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%s: %s: not within %v: %v", p.id, what, patience, p.now().Series)
}

// steady watches p for so long and says whether its term continued.
func steady(p *process, before electtest.Series, for_ time.Duration) bool {
	time.Sleep(for_)
	now := p.now().Series
	return now[of(catalog.Acquired)] == before[of(catalog.Acquired)] && ended(now) == ended(before)
}

func ended(s electtest.Series) float64 {
	n := 0.
	for k, v := range s {
		if strings.HasPrefix(k, catalog.TermsEnded.Name()+"{") {
			n += v
		}
	}
	return n
}

func (c *cluster) contention(t *testing.T) {
	c.keeps(t, "nothing at all", func(leader *process) bool { return steady(leader, leader.now().Series, 3*time.Second+c.ttl()) })
	leader := c.leader(t, c.ttl())
	c.row.learn(leader.now().Series)
	for _, p := range c.all {
		if p == leader {
			continue
		}
		s := p.now().Series
		if s[of(catalog.Active)] != 0 || s[of(catalog.Pending)]+s[of(catalog.NotAcquired, catalog.Contended.String())] == 0 {
			t.Errorf("%s neither waits nor was refused: %v", p.id, s)
		}
	}
}

// keeps has a leader go through something that it must survive. Once is enough to
// fail: a library that renews too late now and then loses one lease in many.
func (c *cluster) keeps(t *testing.T, what string, through func(leader *process) (kept bool)) {
	t.Helper()
	if leader := c.leader(t, c.ttl()); !through(leader) {
		t.Errorf("%s lost its term to %s: %v", leader.id, what, leader.now().Series)
	}
}

func (c *cluster) latency(t *testing.T) {
	c.keeps(t, fmt.Sprintf("a latency of %v", c.elector.slow), func(leader *process) bool { return c.slowed(t, leader) })
}

func (c *cluster) slowed(t *testing.T, leader *process) (kept bool) {
	t.Helper()
	toxic := fmt.Sprintf(`{"name":"slow","type":"latency","stream":"downstream","toxicity":1,"attributes":{"latency":%d}}`, c.elector.slow.Milliseconds())
	if _, err := leader.proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
		t.Fatal(err)
	}
	kept = steady(leader, leader.now().Series, 2*c.ttl()+3*time.Second)
	if err := leader.proxy.Toxics.RemoveToxic(context.Background(), "slow"); err != nil {
		t.Fatal(err)
	}
	return kept
}

// shortCut is survived by a lease. A lock that goes with its connection is
// seen to go.
func (c *cluster) shortCut(t *testing.T) {
	switch leader := c.leader(t, c.ttl()); {
	case c.elector.bound:
		before := leader.now().Series
		c.cutShort(t, leader)
		eventually(t, leader, "the term ends with its connection", func(s electtest.Series) bool { return ended(s) > ended(before) })
		c.leader(t, 0)
	case c.elector.hidden: // whether it is kept depends on when it was renewed
		c.cutShort(t, leader)
		time.Sleep(c.ttl())
		c.leader(t, c.ttl())
	default:
		c.keeps(t, "a cut of a third of the lease", func(leader *process) bool {
			before := leader.now().Series
			c.cutShort(t, leader)
			kept := steady(leader, before, c.ttl())
			c.row.learn(leader.now().Series)
			return kept
		})
	}
}

// cutShort cuts a leader off at the worst moment: just before a renewal that
// comes once in a third of the lease.
func (c *cluster) cutShort(t *testing.T, leader *process) {
	t.Helper()
	before := leader.now().Series
	if renewed := of(catalog.Renewals, catalog.RenewalOK.String()); before[renewed] > 0 {
		eventually(t, leader, "a renewal", func(s electtest.Series) bool { return s[renewed] > before[renewed] })
		time.Sleep(max(c.ttl()/3-200*time.Millisecond, 0))
	}
	leader.proxy.Stop()
	time.Sleep(max(c.ttl()/3, time.Second))
	if err := leader.proxy.Start(); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) longCut(t *testing.T) {
	old := c.leader(t, c.ttl())
	before := old.now().Series
	old.proxy.Stop()
	cut := time.Now()
	next := c.leaderBut(t, old, 2*c.ttl())
	t.Logf("%s followed %s after %.1f s", next.id, old.id, time.Since(cut).Seconds())
	if rest := time.Until(cut.Add(c.ttl() * 3 / 2)); rest > 0 {
		time.Sleep(rest)
	}
	eventually(t, old, "it is not active", func(s electtest.Series) bool { return s[of(catalog.Active)] == 0 })
	c.row.lost(before, old.now().Series)
	if err := old.proxy.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, old, "its term has ended", func(s electtest.Series) bool { return ended(s) > ended(before) })
	c.row.learn(old.now().Series)
}

func (c *cluster) pause(t *testing.T) {
	old := c.leader(t, c.ttl())
	before := old.now().Series
	old.signal(syscall.SIGSTOP)
	paused := time.Now()
	var next *process
	if !c.elector.bound {
		next = c.leaderBut(t, old, 2*c.ttl())
		t.Logf("%s followed %s after %.1f s", next.id, old.id, time.Since(paused).Seconds())
	}
	if rest := time.Until(paused.Add(max(c.ttl()*3/2, 3*time.Second))); rest > 0 {
		time.Sleep(rest)
	}
	old.signal(syscall.SIGCONT)
	c.woke = time.Now()
	if c.elector.bound { // no replica noticed
		eventually(t, old, "it is active again", func(s electtest.Series) bool { return s[of(catalog.Active)] == 1 })
		return
	}
	eventually(t, old, "its term has ended", func(s electtest.Series) bool { return ended(s) > ended(before) })
	c.leader(t, c.ttl())
}

func (c *cluster) murder(t *testing.T) {
	old := c.leader(t, c.ttl())
	old.kill()
	killed := time.Now()
	next := c.leaderBut(t, old, 2*c.ttl())
	t.Logf("%s followed %s after %.1f s", next.id, old.id, time.Since(killed).Seconds())
	old.start()
	eventually(t, old, "it takes part again", func(s electtest.Series) bool { return s[of(catalog.Attempts)] > 0 })
}

func (c *cluster) restart(t *testing.T) {
	old := c.leader(t, c.ttl())
	before := old.now().Series
	c.server.Down()
	time.Sleep(c.ttl() / 4)
	if err := c.server.Up(); err != nil {
		t.Fatal(err)
	}
	up := time.Now()
	if c.elector.bound {
		eventually(t, old, "the term ends with its connection", func(s electtest.Series) bool { return ended(s) > ended(before) })
	}
	leader := c.leader(t, 3*c.ttl())
	t.Logf("%s leads %.1f s after the restart", leader.id, time.Since(up).Seconds())
	for _, p := range c.all {
		if p != leader {
			eventually(t, p, "it takes part", func(s electtest.Series) bool { return s[of(catalog.Attempts)] > 0 })
		}
	}
}

func (c *cluster) goodbye(t *testing.T) {
	leader := c.leader(t, 2*c.ttl())
	sort.SliceStable(c.all, func(i, j int) bool { return c.all[i] == leader })
	for _, p := range c.all {
		leading := p.leads()
		last, err := p.quit()
		if err != nil {
			t.Fatal(err)
		}
		s := last.Series
		switch {
		case last.Broken != "":
			t.Errorf("%s: invariant broken: %s in %v", p.id, last.Broken, s)
		case s[of(catalog.Active)]+s[of(catalog.Running)]+s[of(catalog.Pending)] != 0:
			t.Errorf("%s: something is open after a graceful stop: %v", p.id, s)
		case leading && s[of(catalog.TermsEnded, catalog.Released.String())] == 0:
			t.Errorf("%s: led and did not release: %v", p.id, s)
		}
	}
	c.overlap(t)
}

// mayOverlap says that a term may begin before the holder has noticed a loss.
func (c *cluster) mayOverlap(from time.Time, within time.Duration) {
	c.blind = append(c.blind, span{from: from, to: from.Add(within)})
}

func (c *cluster) blindAt(t time.Time) bool {
	return slices.ContainsFunc(c.blind, func(s span) bool { return !t.Before(s.from) && t.Before(s.to) })
}

// row is what a run found out about an elector, for the table.
type row struct {
	Place   int      `json:"place"` // in the table
	Elector string   `json:"elector"`
	Module  string   `json:"module"`
	Style   string   `json:"style"`
	Server  string   `json:"server"`
	Version string   `json:"version"`
	Seen    []string `json:"seen"`             // series that had a value
	Loss    string   `json:"loss"`             // how the end of a cut-off leader showed
	Passed  []string `json:"passed"`           // scenarios
	Hidden  bool     `json:"hidden,omitempty"` // the library knows a lease end and does not tell
	Note    string   `json:"note,omitempty"`

	seen map[string]bool
}

func newRow(place int, e elector, version string) *row {
	return &row{Place: place, Note: e.note, Hidden: e.hidden, Elector: e.name, Module: e.module, Style: e.style, Server: e.server, Version: version, seen: map[string]bool{}}
}

func (r *row) run(t *testing.T, scenario string, f func(*testing.T)) {
	t.Helper()
	if t.Run(scenario, f) {
		r.Passed = append(r.Passed, scenario)
	}
}

// learn keeps which series an elector can fill.
func (r *row) learn(s electtest.Series) {
	for _, m := range []*catalog.Metric{catalog.LeaseHeadroom, catalog.FencingToken} {
		if _, there := s[of(m)]; there {
			r.seen[m.Name()] = true
		}
	}
	if s[of(catalog.Renewals, catalog.RenewalOK.String())] > 0 {
		r.seen[of(catalog.Renewals, catalog.RenewalOK.String())] = true
	}
	if s[of(catalog.Renewals, catalog.RenewalError.String())]+s[of(catalog.Renewals, catalog.RenewalTimeout.String())] > 0 {
		r.seen[of(catalog.Renewals, catalog.RenewalError.String())] = true
	}
	if s[catalog.RenewalDuration.Count()] > 0 {
		r.seen[catalog.RenewalDuration.Name()] = true
	}
}

// lost keeps how the end of a leader that was cut off showed.
func (r *row) lost(before, after electtest.Series) {
	for _, cause := range []catalog.EndCause{catalog.Lost, catalog.GaveUp, catalog.Expired} {
		if k := of(catalog.TermsEnded, cause.String()); after[k] > before[k] {
			r.Loss = cause.String()
			return
		}
	}
	r.Loss = "lease end"
}

// overlap looks for two terms at once: one that showed at an instant before
// and after which another did. A known lease end excludes that under every fault.
// A holder whose lease end is not known, or who has none, learns late; and so
// does one whose lease was given away.
func (c *cluster) overlap(t *testing.T) {
	var terms []*span
	for _, p := range c.all {
		terms = append(terms, p.terms...)
	}
	sort.Slice(terms, func(i, j int) bool { return terms[i].from.Before(terms[j].from) })
	for i := 1; i < len(terms); i++ {
		earlier, later := terms[i-1], terms[i]
		overlap := earlier.to.Sub(later.from)
		if later.to.Before(earlier.to) {
			terms[i] = earlier // it may reach into the next, too
		}
		switch {
		case overlap <= 0:
		case c.elector.bound, c.elector.hidden, c.elector.careless && later.from.After(c.woke) && later.from.Before(c.woke.Add(c.ttl())), c.blindAt(later.from):
			t.Logf("two terms at once for %.2f s: %s and %s", overlap.Seconds(), earlier.name, later.name)
		default:
			t.Errorf("two terms at once for %.2f s: %s and %s", overlap.Seconds(), earlier.name, later.name)
		}
	}
	readings := 0
	for _, p := range c.all {
		readings += p.readings
	}
	t.Logf("%d readings, %d terms", readings, len(terms))
}

// write puts the row into the folder of results.
func (r *row) write(t *testing.T) {
	dir := os.Getenv("LEADERSCOPE_RESULTS")
	if dir == "" || t.Failed() {
		return
	}
	for name := range r.seen {
		r.Seen = append(r.Seen, name)
	}
	sort.Strings(r.Seen)
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	file := strings.ToLower(strings.NewReplacer("/", "-", " ", "-").Replace(r.Elector)) + ".json"
	if err := os.WriteFile(dir+"/"+file, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
