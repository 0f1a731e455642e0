package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/fence"
)

// fenceShows are the series of a store's side.
func fenceShows(admitted, stale, missing int, highest ...float64) electtest.Series {
	all := electtest.Series{
		electtest.Of(catalog.FencingChecks, "admitted"): float64(admitted),
		electtest.Of(catalog.FencingChecks, "stale"):    float64(stale),
		electtest.Of(catalog.FencingChecks, "missing"):  float64(missing),
	}
	for _, h := range highest {
		all[electtest.Of(catalog.FencingHighestToken)] = h
	}
	return all
}

func newFenced(t *testing.T) (*instrument.Middleware, *instrument.Election) {
	t.Helper()
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	return m, m.Election("ledger", instrument.WatchOnly())
}

func TestAFencedWriteIsRefusedBelowTheHighestToken(t *testing.T) {
	_, c := server(t)
	m, e := newFenced(t)
	var highest uint64
	var want, refused int
	for i, token := range []uint64{0, 9, 9, 10, 9, 2, 10, 1<<53 + 1, 1 << 53, math.MaxUint64, math.MaxInt64} {
		f := NewFence(e, c, "/fence") // as another process would, or after a restart
		highest = max(highest, token)
		entry := fmt.Sprintf("/entries/%d", i)
		resp, err := f.Write(t.Context(), token, clientv3.OpPut(entry, "text"), clientv3.OpGet("/entries/", clientv3.WithPrefix(), clientv3.WithCountOnly()))
		if token < highest {
			refused++
			stale, ok := errors.AsType[*fence.StaleError](err)
			if !ok || *stale != (fence.StaleError{Token: token, Highest: highest}) || resp != nil {
				t.Errorf("token %d: %v", token, err)
			}
			continue
		}
		want++
		if err != nil || resp.Responses[1].GetResponseRange().Count != int64(want) {
			t.Errorf("token %d: %v, %v", token, resp, err)
		}
	}
	got, err := c.Get(t.Context(), "/entries/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil || got.Count != int64(want) {
		t.Errorf("%v entries, want %d: %v", got, want, err)
	}
	if diff := cmp.Diff(fenceShows(want, refused, 0, math.MaxUint64), electtest.Read(m, e.Label())); diff != "" {
		t.Error(diff)
	}
}

func TestAFencedWriteThatIsNotDecidedIsNotCounted(t *testing.T) {
	stop, c := server(t)
	m, e := newFenced(t)
	f := NewFence(e, c, "/fence")
	if _, err := f.WriteContext(t.Context(), clientv3.OpPut("/entry", "text")); err != fence.ErrMissing {
		t.Error(err)
	}
	ctx := fence.WithToken(t.Context(), 3)
	for _, other := range []string{"of something else", "2", "3", "99999999999999999999"} {
		if _, err := c.Put(t.Context(), "/fence", other); err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteContext(ctx, clientv3.OpPut("/entry", "text")); err == nil || !strings.Contains(err.Error(), "holds no number") {
			t.Errorf("%q: %v", other, err)
		}
	}
	if got, err := c.Get(t.Context(), "/entry"); err != nil || got.Count != 0 {
		t.Errorf("it was written: %v, %v", got, err)
	}
	stop()
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, err := f.WriteContext(ctx, clientv3.OpPut("/entry", "text")); err == nil || errors.Is(err, fence.ErrStale) {
		t.Error(err)
	}
	var none *Fence
	if _, err := none.WriteContext(ctx); err == nil {
		t.Error("a nil fence wrote")
	}
	if _, err := NewFence(e, nil, "/fence").WriteContext(ctx); err == nil {
		t.Error("a fence without a client wrote")
	}
	if diff := cmp.Diff(fenceShows(0, 0, 1), electtest.Read(m, e.Label())); diff != "" {
		t.Error(diff)
	}
	if text := fmt.Sprintf("%v %+v %#v", f, *f, *f); strings.Contains(text, "/fence") {
		t.Errorf("the key is printed: %s", text)
	}
}
