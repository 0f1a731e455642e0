package main

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// store is what the nodes share: the list of tenants, their events, their
// totals. Keys begin with a prefix.
type store struct {
	client *redis.Client
	prefix string
}

func (s store) tenants(ctx context.Context) ([]string, error) {
	return s.client.SMembers(ctx, s.prefix+"tenants").Result()
}

// add makes a tenant with ten events; a broken one has something else where
// its events should be.
func (s store) add(ctx context.Context, tenant string, broken bool) error {
	events := s.prefix + "events:" + tenant
	fill := func() error { return s.client.RPush(ctx, events, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10).Err() }
	if broken {
		fill = func() error { return s.client.Set(ctx, events, "not a list", 0).Err() }
	}
	return errors.Join(fill(), s.client.SAdd(ctx, s.prefix+"tenants", tenant).Err())
}

func (s store) remove(ctx context.Context, tenant string) error {
	return s.client.SRem(ctx, s.prefix+"tenants", tenant).Err()
}

// aggregate reads the tenant's events, takes its time, and writes the sum with
// the next revision. It reads the revision first and writes it last, so two at
// once would write the same one: that is what the lock is for, and how the
// show finds out whether the lock did it.
func (s store) aggregate(ctx context.Context, tenant string, work time.Duration) error {
	totals := s.prefix + "totals:" + tenant
	revision, err := s.client.HGet(ctx, totals, "revision").Int()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	events, err := s.client.LRange(ctx, s.prefix+"events:"+tenant, 0, -1).Result()
	if err != nil {
		return err
	}
	var sum int
	for _, event := range events {
		n, err := strconv.Atoi(event)
		if err != nil {
			return err
		}
		sum += n
	}
	if err := pause(ctx, work); err != nil {
		return err
	}
	_, err = s.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.HSet(ctx, totals, "sum", sum, "revision", revision+1)
		p.HIncrBy(ctx, totals, "runs", 1)
		return nil
	})
	return err
}

// runs is how often a tenant was aggregated; violations is how often two nodes
// did it at once.
func (s store) runs(ctx context.Context, tenant string) (runs, violations int, err error) {
	var t struct {
		Runs     int `redis:"runs"`
		Revision int `redis:"revision"`
	}
	err = s.client.HGetAll(ctx, s.prefix+"totals:"+tenant).Scan(&t)
	return t.Runs, t.Runs - t.Revision, err
}

// clear removes everything under the prefix.
func (s store) clear(ctx context.Context) error {
	keys := s.client.Scan(ctx, 0, s.prefix+"*", 1000).Iterator()
	for keys.Next(ctx) {
		if err := s.client.Del(ctx, keys.Val()).Err(); err != nil {
			return err
		}
	}
	return keys.Err()
}

// pause waits, and returns why the work should not continue. It checks the
// clock too: a process that was suspended wakes up with all its timers due,
// and may hear of its deadline last.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}
