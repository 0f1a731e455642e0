package etcd

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"

	. "github.com/leaderscope/leaderscope/cmd/leader-observer/internal/observe/observetest"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// led is a lock that is held under the lease of the fake, by a key of that
// revision.
func led(by string, revision, terms, vacant float64) electtest.Series {
	return Held(by, terms, vacant).With(electtest.Series{"token": revision, "lease_duration_seconds": 60})
}

func TestWhatEventsShowOfAnElection(t *testing.T) {
	const lock = "/e/x"
	for name, c := range map[string]struct {
		found []*clientv3.Event
		play  func(*cluster)
		want  electtest.Series
	}{
		"found":                    {[]*clientv3.Event{put(key(1), "a")}, func(*cluster) {}, led("a", 1, 0, 0)},
		"found with others behind": {[]*clientv3.Event{put(key(2), "b"), put(key(1), "a")}, func(*cluster) {}, led("b", 1, 0, 0)},
		"made while it is watched": {nil, func(c *cluster) { c.happens(put(key(1), "a")) }, led("a", 1, 1, 0)},
		"others queue up":          {[]*clientv3.Event{put(key(1), "a")}, func(c *cluster) { c.happens(put(key(2), "b"), put(key(3), "c")) }, led("a", 1, 0, 0)},
		"one behind leaves":        {[]*clientv3.Event{put(key(1), "a"), put(key(2), "b")}, func(c *cluster) { c.happens(del(key(2))) }, led("a", 1, 0, 0)},
		"the next takes over":      {[]*clientv3.Event{put(key(1), "a"), put(key(2), "b")}, func(c *cluster) { c.happens(del(key(1))) }, led("b", 2, 1, 0).With(Gaps(1, 0))},
		"the value is changed":     {[]*clientv3.Event{put(key(1), "a")}, func(c *cluster) { c.happens(put(key(1), "a")) }, led("a", 1, 0, 0)},
		"a key without a value":    {[]*clientv3.Event{put(key(1), "")}, func(*cluster) {}, led("1", 1, 0, 0)},
		"a key without a lease":    {[]*clientv3.Event{stays(put(key(1), "a"))}, func(*cluster) {}, Held("a", 0, 0).With(electtest.Series{"token": 1})},
		"a key without a lease takes over from one with": {[]*clientv3.Event{put(key(1), "a"), stays(put(key(2), "b"))}, func(c *cluster) {
			c.happens(del(key(1)))
		}, Held("b", 1, 0).With(electtest.Series{"token": 2}).With(Gaps(1, 0))},
		"a key with a lease takes over from one without": {[]*clientv3.Event{stays(put(key(1), "a")), put(key(2), "b")}, func(c *cluster) {
			c.happens(del(key(1)))
		}, led("b", 2, 1, 0).With(Gaps(1, 0))},
		"a key that is no candidate's":  {[]*clientv3.Event{put(key(1), "a")}, func(c *cluster) { c.happens(put("x", "b")) }, led("a", 1, 0, 0)},
		"one for another in one change": {[]*clientv3.Event{put(key(1), "a")}, func(c *cluster) { c.atOnce(del(key(1)), put(key(2), "b")) }, led("b", 2, 1, 0).With(Gaps(1, 0))},
		"one for two others in one change": {[]*clientv3.Event{put(key(1), "a"), put(key(2), "b")}, func(c *cluster) {
			c.atOnce(del(key(1)), del(key(2)), put(key(3), "c"))
		}, led("c", 3, 1, 0).With(Gaps(1, 0))},
		"forgotten and made again": {[]*clientv3.Event{put(key(1), "a")}, func(c *cluster) {
			c.happens(del(key(1)))
			time.Sleep(time.Hour + affirm)
			c.happens(put(key(2), "b"))
		}, led("b", 3, 1, 0)},
		"one for another in one answer": {[]*clientv3.Event{put(key(1), "a")}, func(c *cluster) {
			gone, next := del(key(1)), put(key(2), "b")
			c.set(func() { c.revision = 3 })
			gone.Kv.ModRevision, next.Kv.ModRevision = 2, 3
			c.tells(gone, next)
		}, led("b", 3, 1, 0).With(Gaps(1, 0))},
		"given back": {[]*clientv3.Event{put(key(1), "a")}, func(c *cluster) {
			c.happens(del(key(1)))
			time.Sleep(12 * time.Second)
		}, Free(0, 12)},
		"given back and taken after a while": {[]*clientv3.Event{put(key(1), "a")}, func(c *cluster) {
			c.happens(del(key(1)))
			time.Sleep(1500 * time.Millisecond)
			c.happens(put(key(2), "b"))
			time.Sleep(time.Minute)
		}, led("b", 3, 1, 1.5).With(Gaps(1, 1.5))},
		"given back for longer than it is remembered": {[]*clientv3.Event{put(key(1), "a")}, func(c *cluster) {
			c.happens(del(key(1)))
			time.Sleep(time.Hour + affirm)
			synctest.Wait()
		}, electtest.Series{"up": 1}},
		"watched for an hour": {[]*clientv3.Event{put(key(1), "a")}, func(*cluster) { time.Sleep(time.Hour) }, led("a", 1, 0, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, time.Hour, c.found, func(f *cluster) {
				c.play(f)
				f.Shows("at the end", lock, c.want)
			})
		})
	}
}

func TestTheLengthOfALeaseIsAskedOnce(t *testing.T) {
	run(t, 0, []*clientv3.Event{put(key(1), "a")}, func(c *cluster) {
		time.Sleep(time.Minute)
		if c.asked != 1 {
			t.Errorf("asked %d times", c.asked)
		}
	})
	run(t, 0, nil, func(c *cluster) {
		c.set(func() { c.lengths = nil }) // not told yet
		c.happens(put(key(1), "a"))
		c.Shows("not told", "/e/x", Held("a", 1, 0).With(electtest.Series{"token": 1}))
		c.set(func() { c.lengths = map[clientv3.LeaseID]int64{7: 60} })
		time.Sleep(affirm)
		synctest.Wait()
		c.Shows("told", "/e/x", led("a", 1, 1, 0))
	})
}

// What happens while the watch is lost is no vacancy, and what is found then is
// what holds.
func TestALostWatchIsTakenUpAgain(t *testing.T) {
	for name, c := range map[string]struct {
		loses     func(*cluster)
		meanwhile []*clientv3.Event
		want      electtest.Series
	}{
		"the server ends it":       {func(c *cluster) { c.ends(nil) }, nil, led("a", 1, 0, 0)},
		"the server compacted it":  {func(c *cluster) { c.ends(&clientv3.WatchResponse{CompactRevision: 9}) }, nil, led("a", 1, 0, 0)},
		"it has no answer":         {func(c *cluster) { c.set(func() { c.mute = true }); c.silent(3 * affirm) }, nil, led("a", 1, 0, 0)},
		"another holds it then":    {func(c *cluster) { c.ends(nil) }, []*clientv3.Event{del(key(1)), put(key(2), "b")}, led("b", 3, 1, 0)},
		"nobody holds it then":     {func(c *cluster) { c.ends(nil) }, []*clientv3.Event{del(key(1))}, Free(0, 0)},
		"the server was away then": {func(c *cluster) { c.set(func() { c.away = errAway }); c.silent(affirm) }, nil, led("a", 1, 0, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, 0, []*clientv3.Event{put(key(1), "a")}, func(f *cluster) {
				c.loses(f)
				f.Shows("lost", "/e/x", Unknown(0, 0))
				f.happens(c.meanwhile...)
				f.set(func() { f.away, f.mute = nil, false })
				reads := f.timesRead()
				for f.timesRead() == reads {
					time.Sleep(100 * time.Millisecond)
				}
				synctest.Wait()
				got := f.Series("/e/x")
				delete(got, "vacant_seconds_total") // 0.1 s may have passed since
				want := c.want.With(nil)
				delete(want, "vacant_seconds_total")
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestAServerThatIsAwayIsNeverReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(t, 0)
		s := Source{Prefix: "/e/", Connect: func() (*clientv3.Client, error) { return nil, errAway }}.Watch(f.Backend)
		if err := s.Run(t.Context()); err == nil || err.Error() != "connect: away" || f.Reached() {
			t.Errorf("%v, reached: %v", err, f.Reached())
		}
		s.Close()
	})
}
