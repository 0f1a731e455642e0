package redislocklead

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/fence"
)

// Fence is the store's side of fencing in Redis: one script compares the token
// with the highest one that Redis has seen, keeps the higher, and writes. It is
// safe for concurrent use, by any number of processes. Writes that do not pass
// through it are not protected. If a Redis server loses its last writes in a crash
// or a failover, it may lose the highest token as well. A nil Fence writes nothing
// and returns an error.
//
// Take the tokens from another elector or a counter: redislock's own Token is
// random, and therefore not a fencing token.
type Fence struct {
	e      *instrument.Election
	client redis.Scripter
	keys   func(more []string) []string // a function, so that nothing prints the key
}

// NewFence stores the highest token under key, which never expires and must not
// be evicted. Use the key for this lock only. In a Redis Cluster it needs the hash
// tag of the keys that are written. The checks are counted in the series of e; a
// nil e records nothing.
func NewFence(e *instrument.Election, client redis.Scripter, key string) *Fence {
	e.Guards()
	return &Fence{e: e, client: client, keys: func(more []string) []string { return append([]string{key}, more...) }}
}

// Write is what a Fence writes; see NewWrite.
type Write struct{ script *redis.Script }

// NewWrite makes a write of a Lua script, which finds its keys and arguments in
// KEYS and ARGV as in any script of Redis, and may return a value.
func NewWrite(lua string) *Write { return &Write{redis.NewScript(fmt.Sprintf(fenced, lua))} }

// fenced compares words of digits without leading zeros, since Lua's numbers end
// at 2^53.
const fenced = `local function write(KEYS, ARGV)
%s
end
local token, highest = ARGV[1], redis.call('GET', KEYS[1])
if highest and (not highest:match('^[1-9]%%d*$') and highest ~= '0' or #highest > #token or #highest == #token and highest > token) then
  return {1, highest}
end
redis.call('SET', KEYS[1], token)
local keys, args = {}, {}
for i = 2, #KEYS do keys[i - 1] = KEYS[i] end
for i = 2, #ARGV do args[i - 1] = ARGV[i] end
return {0, write(keys, args)}`

// Run runs a write under a token, in one request, and counts it once. It
// returns the result of the script, or nil if there is none. It returns a
// [fence.StaleError], and has written nothing, if Redis has seen a higher token.
// After any other error it is unknown whether the write took effect; it is not
// counted.
func (f *Fence) Run(ctx context.Context, token uint64, w *Write, keys []string, args ...any) (any, error) {
	if f == nil || f.client == nil || w == nil {
		return nil, errors.New("leaderscope: fenced write without a client or a script; use NewFence and NewWrite")
	}
	answer, err := w.script.Run(ctx, f.client, f.keys(keys), append([]any{fence.Format(token)}, args...)...).Slice()
	if err == nil && len(answer) == 2 { // an error that the script caught and returns
		err, _ = answer[1].(error)
	}
	if err != nil {
		return nil, fmt.Errorf("leaderscope: fenced write failed, and it is unknown whether it took effect: %w", err)
	}
	switch {
	case len(answer) > 0 && answer[0] == int64(0):
		return append(answer, nil)[1], fence.Compare(f.e, token, token)
	case len(answer) == 2 && answer[0] == int64(1):
		word, _ := answer[1].(string)
		if highest, err := strconv.ParseUint(word, 10, 64); err == nil && highest > token {
			return nil, fence.Compare(f.e, token, highest)
		}
	}
	return nil, errors.New("leaderscope: fenced write refused: the key of the highest token holds no number as Fence writes it; give the fence a key of its own")
}

// RunContext is Run with the token of the context; see fence.WithToken. Without
// one it returns fence.ErrMissing and sends no request.
func (f *Fence) RunContext(ctx context.Context, w *Write, keys []string, args ...any) (any, error) {
	token, ok := fence.TokenFrom(ctx)
	if f != nil && !ok {
		return nil, fence.Missing(f.e)
	}
	return f.Run(ctx, token, w, keys, args...)
}
