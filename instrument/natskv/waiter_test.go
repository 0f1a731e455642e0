package natskv

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// shown is what a watch shows.
type shown struct {
	jetstream.KeyValueEntry
	op jetstream.KeyValueOp
}

func (s shown) Operation() jetstream.KeyValueOp { return s.op }
func (shown) Value() []byte                     { return []byte("replica-1 term") }
func (shown) Revision() uint64                  { return 7 }

func TestWhatEndsTheWaitForAKey(t *testing.T) {
	const s = time.Second
	put, del, purged := shown{op: jetstream.KeyValuePut}, shown{op: jetstream.KeyValueDelete}, shown{op: jetstream.KeyValuePurge}
	for name, c := range map[string]struct {
		every  time.Duration
		within time.Duration             // of the caller; 0: forever
		shows  []jetstream.KeyValueEntry // one each second; nil is all that was there
		closes bool                      // after that
		after  time.Duration
		err    error
	}{
		"nothing is shown, of a key with a TTL":              {every: 7 * s, after: 7 * s},
		"nothing is shown, of a key without one":             {after: lookEvery},
		"the caller gives up":                                {every: 7 * s, within: 2 * s, after: 2 * s, err: context.DeadlineExceeded},
		"there is no value":                                  {every: 7 * s, shows: []jetstream.KeyValueEntry{nil}, after: s},
		"there is a value, which stays":                      {every: 7 * s, shows: []jetstream.KeyValueEntry{put, nil, put}, after: 7 * s},
		"there is a value, which is deleted":                 {every: 7 * s, shows: []jetstream.KeyValueEntry{put, nil, put, del}, after: 4 * s},
		"there is a value, which is purged":                  {every: 7 * s, shows: []jetstream.KeyValueEntry{put, purged}, after: 2 * s},
		"the watch ends":                                     {every: 7 * s, closes: true, after: 7 * s},
		"the watch ends after a value, and nothing shows it": {every: 7 * s, shows: []jetstream.KeyValueEntry{put, nil}, closes: true, after: 7 * s},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if c.within > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.within)
					defer cancel()
				}
				updates := make(chan jetstream.KeyValueEntry, len(c.shows))
				go func() {
					for _, entry := range c.shows {
						time.Sleep(s)
						updates <- entry
					}
					if c.closes {
						time.Sleep(s)
						close(updates)
					}
				}()
				begun := time.Now()
				err := (&waiter{every: c.every, updates: updates}).freed(ctx)
				if took := time.Since(begun); err != c.err || took != c.after {
					t.Errorf("%v after %v, want %v after %v", err, took, c.err, c.after)
				}
			})
		})
	}
}
