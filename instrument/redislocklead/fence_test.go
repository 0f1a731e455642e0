package redislocklead

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/fence"
)

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

func fencedClient(t *testing.T) (*miniredis.Miniredis, *redis.Client) {
	t.Helper()
	r := miniredis.RunT(t)
	c := redis.NewClient(&redis.Options{Addr: r.Addr(), MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })
	return r, c
}

func TestAFencedWriteIsRefusedBelowTheHighestToken(t *testing.T) {
	_, c := fencedClient(t)
	m, e := newFenced(t)
	push := NewWrite(`return redis.call('RPUSH', KEYS[1], ARGV[1] .. ARGV[2])`)
	var highest uint64
	var refused int
	var want []string
	for i, token := range []uint64{0, 9, 9, 10, 9, 2, 10, 1<<53 + 1, 1 << 53, math.MaxUint64, math.MaxInt64} {
		f := NewFence(e, c, "{ledger}:token") // as another process would, or after a restart
		highest = max(highest, token)
		length, err := f.Run(t.Context(), token, push, []string{"{ledger}:entries"}, "entry ", i)
		if token < highest {
			refused++
			stale, ok := errors.AsType[*fence.StaleError](err)
			if !ok || *stale != (fence.StaleError{Token: token, Highest: highest}) || length != nil {
				t.Errorf("token %d: %v, %v", token, length, err)
			}
			continue
		}
		want = append(want, fmt.Sprint("entry ", i))
		if err != nil || length != int64(len(want)) {
			t.Errorf("token %d: %v, %v", token, length, err)
		}
	}
	got, err := c.LRange(t.Context(), "{ledger}:entries", 0, -1).Result()
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if diff := cmp.Diff(fenceShows(len(want), refused, 0, math.MaxUint64), electtest.Read(m, e.Label())); diff != "" {
		t.Error(diff)
	}
}

func TestAFencedWriteMayReturnNothing(t *testing.T) {
	_, c := fencedClient(t)
	f := NewFence(nil, c, "token")
	if got, err := f.Run(t.Context(), 1, NewWrite(`redis.call('SET', KEYS[1], 'x') -- the last line may be a comment`), []string{"entry"}); got != nil || err != nil {
		t.Error(got, err)
	}
	if got, err := c.Get(t.Context(), "entry").Result(); got != "x" || err != nil {
		t.Error(got, err)
	}
}

func TestAFencedWriteWhoseScriptFailsIsAnError(t *testing.T) {
	_, c := fencedClient(t)
	m, e := newFenced(t)
	f := NewFence(e, c, "token")
	if err := c.RPush(t.Context(), "entry", "x").Err(); err != nil {
		t.Fatal(err)
	}
	for name, lua := range map[string]string{
		"it stops":            `return redis.call('INCR', KEYS[1])`,
		"it catches an error": `return redis.pcall('INCR', KEYS[1])`,
		"it says so":          `return redis.error_reply('WRONGTYPE no number')`,
	} {
		got, err := f.Run(t.Context(), 3, NewWrite(lua), []string{"entry"})
		if err == nil || got != nil || errors.Is(err, fence.ErrStale) || !strings.Contains(err.Error(), "WRONGTYPE") {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if diff := cmp.Diff(fenceShows(0, 0, 0), electtest.Read(m, e.Label())); diff != "" {
		t.Error(diff)
	}
}

func TestAFencedWriteThatIsNotDecidedIsNotCounted(t *testing.T) {
	r, c := fencedClient(t)
	m, e := newFenced(t)
	f, set := NewFence(e, c, "token"), NewWrite(`redis.call('SET', KEYS[1], 'x')`)
	run := func(f *Fence, w *Write) error {
		_, err := f.RunContext(fence.WithToken(t.Context(), 3), w, []string{"entry"})
		return err
	}
	if _, err := f.RunContext(t.Context(), set, []string{"entry"}); err != fence.ErrMissing {
		t.Error(err)
	}
	for _, other := range []string{"of something else", "x", "", "-5", "2.5", "02", "00000000000000000002", "99999999999999999999"} {
		_ = r.Set("token", other)
		if err := run(f, set); err == nil || !strings.Contains(err.Error(), "holds no number") {
			t.Errorf("%q: %v", other, err)
		}
	}
	if r.Exists("entry") {
		t.Error("it was written")
	}
	r.SetError("LOADING")
	const open = "leaderscope: fenced write failed, and it is unknown whether it took effect: LOADING"
	if err := run(f, set); err == nil || err.Error() != open {
		t.Errorf("%v, want %s", err, open)
	}
	for name, err := range map[string]error{"nil": run(nil, set), "without a client": run(NewFence(e, nil, "token"), set), "without a script": run(f, nil)} {
		if err == nil {
			t.Errorf("%s: it wrote", name)
		}
	}
	if diff := cmp.Diff(fenceShows(0, 0, 1), electtest.Read(m, e.Label())); diff != "" {
		t.Error(diff)
	}
	f = NewFence(nil, nil, "tenant-bravo")
	if text := fmt.Sprintf("%v %+v %#v", f, *f, *f); strings.Contains(text, "bravo") {
		t.Errorf("the key is printed: %s", text)
	}
}
