//go:build integration

package zklock

import (
	"context"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

func TestAStandbyOfAServerSeesTheHolderAndItsEnd(t *testing.T) {
	const queue = "/leaderscope/witness"
	holder, holders := dial(t)
	lease := acquire(t, NewElection(holder, holders, queue, "replica-1", zk.WorldACL(zk.PermAll)))

	conn, session := dial(t)
	m := expect.Middleware(t)
	e := m.Election(expect.Lock, instrument.Hold(), instrument.Backend("zookeeper"))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if term, err := e.Acquire(ctx, NewElection(conn, session, queue, "replica-2", zk.WorldACL(zk.PermAll))); err == nil {
			<-ctx.Done()
			_ = term.Release(context.WithoutCancel(ctx))
		}
	}()
	defer func() { cancel(); <-done }()
	token, _ := lease.(instrument.Fencer).FencingToken()
	sees := func(key string) float64 { return electtest.ReadBackend(m, expect.Lock)[key] }
	eventually(t, "the standby sees the holder by its token", func() bool {
		return sees(of(catalog.BackendHeld, "zookeeper")) == 1 && sees(of(catalog.BackendToken, "zookeeper")) == float64(token)
	})
	holder.Close() // without a release
	eventually(t, "the standby has taken over", func() bool {
		return sees(of(catalog.BackendTerms, "zookeeper")) == 1 && e.Leading()
	})
}
