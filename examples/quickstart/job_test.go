package main

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/leaderscope/leaderscope/instrument"
)

func TestFixedLeaseExcludesOthersUntilItEnds(t *testing.T) {
	c := loneMember(t)
	lock := fixedLease(c, "job", 2*time.Second)
	mine, err := lock.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Acquire(t.Context()); !errors.Is(err, instrument.ErrContended) {
		t.Errorf("a second holder: %v, want ErrContended", err)
	}
	var next instrument.Lease
	eventually(t, "the lease lapses", func() bool {
		next, err = lock.Acquire(t.Context())
		return err == nil
	})
	if end := mine.(instrument.Expirer).Expiry(); time.Now().Before(end) {
		t.Errorf("another holder before the lease end, %v left", time.Until(end))
	}
	if err := mine.Release(t.Context()); !errors.Is(err, instrument.ErrContended) {
		t.Errorf("the release of another's lock returned %v, want ErrContended", err)
	}
	if err := next.Release(t.Context()); err != nil {
		t.Error(err)
	}
	before, _ := mine.(instrument.Fencer).FencingToken()
	after, _ := next.(instrument.Fencer).FencingToken()
	if before == 0 || after <= before {
		t.Errorf("tokens %d and %d, want them to grow", before, after)
	}
}

func loneMember(t *testing.T) *clientv3.Client {
	t.Helper()
	ports, err := freePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	m := newMember(memberConfig{Name: "m", Dir: filepath.Join(t.TempDir(), "m"), Client: ports[0], Peer: ports[1], Cluster: "m=http://" + ports[1]})
	if err := m.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.stop)
	c, err := m.client()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	eventually(t, "the member answers", func() bool {
		_, err := c.Get(t.Context(), "job")
		return err == nil
	})
	return c
}
