package electors

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/redislocklead"
)

// RedisClient gives up on a request well within the lease.
func RedisClient(address string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: address, DialTimeout: time.Second, ReadTimeout: 1500 * time.Millisecond, WriteTimeout: time.Second, MaxRetries: -1,
	})
}

// RedisLock is a lock that the adapter renews; its value ends with the
// replica's name.
func RedisLock(_ context.Context, r Replica) (instrument.Acquirer, func(), error) {
	client := RedisClient(r.Address)
	client.AddHook(extensions{r})
	lock := redislocklead.NewLock(redislock.New(client), r.Lock, Lease, redislocklead.WithAutoRenew(), redislocklead.WithMetadata(r.ID))
	return lock, func() { client.Close() }, nil
}

// extensions hears each answer that renews a key.
type extensions struct{ replica Replica }

func (extensions) DialHook(next redis.DialHook) redis.DialHook { return next }

func (extensions) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (e extensions) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		asked := time.Now()
		err := next(ctx, cmd)
		answer, ok := cmd.(*redis.Cmd)
		if !ok || err != nil || !strings.HasPrefix(cmd.Name(), "eval") {
			return err
		}
		// The scripts of redislock answer 1 when they found their token; the one
		// that renews has an argument more than the one that releases. The one that
		// takes the key answers OK.
		n, no := answer.Int()
		switch {
		case no != nil:
			e.replica.answered(asked)
		case n == 1 && len(cmd.Args()) == renewalArgs:
			e.replica.renewed(asked)
		}
		return err
	}
}

// renewalArgs are EVALSHA, the script, the number of keys, the key, the token
// and the lease.
const renewalArgs = 6

// DeleteOnRedis deletes the lock's key, which a library may have given a
// prefix.
func DeleteOnRedis(ctx context.Context, address, lock string) error {
	client := RedisClient(address)
	defer client.Close()
	keys, err := client.Keys(ctx, "*"+lock).Result()
	if err != nil {
		return err
	}
	if len(keys) != 1 {
		return fmt.Errorf("%d keys of %s", len(keys), lock)
	}
	return client.Del(ctx, keys...).Err()
}
