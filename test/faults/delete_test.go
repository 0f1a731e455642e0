//go:build integration

package faults

import (
	"context"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/test/electors"
)

// deletion takes away the record by which a lock is held. The session of its
// holder lives on, so nothing but the record reports the loss.
type deletion struct {
	by func(t testing.TB, c *cluster, holder *process) error
	// within is how long the holder may not notice: until its next reading.
	within time.Duration
	// grows is what the loss may add to the counters of the holder. All others
	// stay, on every replica.
	grows []electtest.Series
	// recreated says that the record is made again, with a token that starts again,
	// by whichever replica is first: its holder may be.
	recreated bool
}

var (
	// seen: the holder saw the record go.
	seen = electtest.Series{endedBy(catalog.Lost): 1, releasedWith(catalog.ReleaseNotOwner): 1}
	// refused: its next renewal found no record.
	refused = seen.With(electtest.Series{renewedWith(catalog.RenewalLost): 1})
	// replaced: its next renewal found the record of another. client-go's work
	// ends at the renew deadline, on a loaded machine after the lease.
	replaced = refused.Without(releasedWith(catalog.ReleaseNotOwner))
	outlived = replaced.With(electtest.Series{electtest.Of(catalog.LeaseOverruns): 1})
)

type either = []electtest.Series

// deletions are by server, or by elector where one of several looks at the
// record in a way of its own. A renewal may be under way when the record
// goes. A NATS server that was restarted has forgotten the watch of the key.
var deletions = map[string]deletion{
	"etcd":           {by: record(electors.DeleteOnEtcd), within: time.Second, grows: either{seen, refused}},
	"nats":           {by: record(electors.DeleteOnNATS), within: lease / 2, grows: either{seen, refused}},
	"zookeeper":      {by: record(electors.DeleteOnZooKeeper), within: time.Second, grows: either{seen, refused}},
	"redis":          {by: record(electors.DeleteOnRedis), within: lease / 2, grows: either{refused}},
	"dynalite":       {by: record(loseOnDynamoDB), within: lease / 2, grows: either{refused}},
	"postgres":       {by: forgetLocks, within: time.Second, grows: either{seen}},
	"mariadb":        {by: forgetLocks, within: time.Second, grows: either{seen}},
	"kube-apiserver": {by: record(electors.DeleteOnKubernetes), within: lease / 2, recreated: true, grows: either{replaced, outlived}},

	"rueidislock": {by: record(electors.DeleteOnRedis), within: lease, grows: either{seen}},
	"pglock":      {by: record(deletePgLock), within: lease / 2, grows: either{refused}},
}

func (e elector) deletion() deletion {
	if d, ok := deletions[e.name]; ok {
		return d
	}
	return deletions[e.server]
}

func (c *cluster) recordDeleted(t *testing.T) {
	d := c.elector.deletion()
	c.leader(t, c.ttl())
	before := c.calm(t)
	holder := c.leader(t, c.ttl())
	gone := time.Now()
	if err := d.by(t, c, holder); err != nil {
		t.Fatal(err)
	}
	c.mayOverlap(gone, d.within)
	var right []counts
	for _, growth := range d.grows {
		right = append(right, before.with(holder, growth))
	}
	if d.recreated {
		right = append(right, before)
		time.Sleep(c.ttl())
	}
	c.settles(t, "the record was deleted", func(got counts) []counts {
		if !d.recreated {
			return right
		}
		var recreated []counts
		for _, r := range right {
			recreated = append(recreated, r.without(of(catalog.FencingTokenRegressions), got))
		}
		return recreated
	})
	t.Logf("the holder has settled after %.1f s", time.Since(gone).Seconds())
	c.leader(t, c.ttl())
}

// forgetLocks has the session of the holder give up its advisory locks.
func forgetLocks(_ testing.TB, _ *cluster, holder *process) error {
	return holder.cmd.Process.Signal(electors.Forget)
}

// record deletes what the server keeps of a lock.
func record(remove func(ctx context.Context, address, lock string) error) func(testing.TB, *cluster, *process) error {
	return func(t testing.TB, c *cluster, _ *process) error {
		return remove(t.Context(), c.server.Addresses()[0], c.all[0].order.Lock)
	}
}
