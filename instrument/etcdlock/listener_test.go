package etcdlock

import (
	"context"
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/leaderscope/leaderscope/instrument"
)

func TestTheCauseOfALossIsWhatTheServerHasShown(t *testing.T) {
	for name, c := range map[string]struct {
		lose func(*testing.T, *clientv3.Client, *concurrency.Session)
		want error
		not  error
	}{
		"the lease was revoked": {
			lose: func(t *testing.T, c *clientv3.Client, s *concurrency.Session) {
				if _, err := c.Revoke(t.Context(), s.Lease()); err != nil {
					t.Fatal(err)
				}
			},
			want: instrument.ErrSessionLost,
		},
		"the session was orphaned": {
			lose: func(_ *testing.T, _ *clientv3.Client, s *concurrency.Session) { s.Orphan() },
			want: context.Canceled, not: instrument.ErrSessionLost,
		},
		"the client was closed": {
			lose: func(_ *testing.T, c *clientv3.Client, _ *concurrency.Session) { c.Close() },
			want: context.Canceled, not: instrument.ErrSessionLost,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, client := server(t)
			s := callersSession(t, client)
			w := watch(t, acquire(t, Mutex(s, concurrency.NewMutex(s, "/cause"))))
			receive(t, w.renewed)
			c.lose(t, client, s)
			if cause := receive(t, w.lost); !errors.Is(cause, c.want) || c.not != nil && errors.Is(cause, c.not) {
				t.Errorf("cause %v, want %v", cause, c.want)
			}
		})
	}
}

// The server tells whole seconds: the end of a lease whose renewal was not
// heard may be early by one, and never late.
func TestTheEndOfACallersLeaseIsNotTooLate(t *testing.T) {
	_, c := server(t)
	s, err := concurrency.NewSession(c, concurrency.WithTTL(10))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Orphan)
	renewed, err := c.KeepAlive(t.Context(), s.Lease())
	if err != nil {
		t.Fatal(err)
	}
	receive(t, renewed)
	answered := time.Now()
	for range 20 {
		end := listen(t.Context(), s).Expiry()
		if late := end.Sub(answered.Add(10 * time.Second)); late > 0 || late < -1100*time.Millisecond {
			t.Errorf("the end is %v after that of the lease", late)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
