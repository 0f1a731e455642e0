package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// store is the cache and, for the show, the source that it is filled from.
// Keys begin with a prefix.
type store struct {
	client *redis.Client
	prefix string
	fresh  time.Duration
	chunk  time.Duration
}

// isFresh reports whether the partition needs no warming.
func (s store) isFresh(ctx context.Context, partition string) (bool, error) {
	n, err := s.client.Exists(ctx, s.prefix+"cache:"+partition).Result()
	return n == 1, err
}

// load reads the partition chunk by chunk, which takes its time, and puts it
// into the cache. keep is called after each chunk, and says why to stop.
//
// It reads the partition's version first and writes the next one last, so two
// at once would write the same: that is how the show finds out whether the
// lock keeps them apart.
func (s store) load(ctx context.Context, partition string, keep func(context.Context) error) error {
	versions := s.prefix + "versions:" + partition
	version, err := s.client.HGet(ctx, versions, "version").Int()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	chunks, err := s.client.LRange(ctx, s.prefix+"source:"+partition, 0, -1).Result()
	if err != nil {
		return err
	}
	for range chunks {
		if err := pause(ctx, s.chunk); err != nil {
			return err
		}
		if err := keep(ctx); err != nil {
			return err
		}
	}
	_, err = s.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.Set(ctx, s.prefix+"cache:"+partition, strings.Join(chunks, " "), s.fresh)
		p.HSet(ctx, versions, "version", version+1)
		p.HIncrBy(ctx, versions, "loads", 1)
		return nil
	})
	return err
}

// loads is how often a partition was loaded; violations is how often two nodes
// did it at once.
func (s store) loads(ctx context.Context, partition string) (loads, violations int, err error) {
	var v struct {
		Loads   int `redis:"loads"`
		Version int `redis:"version"`
	}
	err = s.client.HGetAll(ctx, s.prefix+"versions:"+partition).Scan(&v)
	return v.Loads, v.Loads - v.Version, err
}

// fill makes the source of a partition; a broken one has something else where
// its chunks should be.
func (s store) fill(ctx context.Context, partition string, broken bool) error {
	source := s.prefix + "source:" + partition
	_, err := s.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.Del(ctx, source)
		if broken {
			p.Set(ctx, source, "not a list", 0)
		} else {
			p.RPush(ctx, source, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
		}
		return nil
	})
	return err
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

// pause takes its time, unless ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
