// Package redis polls locks that are keys of a Redis server.
package redis

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/observe"
	"github.com/leaderscope/leaderscope/instrument"
)

// Source polls keys of a server.
type Source struct {
	Options *redis.Options
	Every   time.Duration
	Keys    []string

	backend *observe.Backend
}

// Watch makes a Source ready to Run.
func (s Source) Watch(b *observe.Backend) *Source {
	s.backend = b
	return &s
}

// Run polls until the server is lost.
func (s *Source) Run(ctx context.Context) error {
	client := redis.NewClient(s.Options)
	defer client.Close()
	return observe.Poll(ctx, s.Every, func(ctx context.Context) error { return s.look(ctx, client) })
}

// look reads all keys in one request. The value of a key permits its deletion, so
// only a digest of it is kept.
func (s *Source) look(ctx context.Context, client *redis.Client) error {
	asked := time.Now()
	values, left := make([]*redis.StringCmd, len(s.Keys)), make([]*redis.DurationCmd, len(s.Keys))
	_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, key := range s.Keys {
			values[i], left[i] = p.Get(ctx, key), p.PTTL(ctx, key)
		}
		return nil
	})
	var answer redis.Error // of a command, from a server that is there
	if err != nil && !errors.As(err, &answer) {
		return fmt.Errorf("look: %w", err)
	}
	s.backend.Up()
	for i, key := range s.Keys {
		s.backend.Lock(key).Sees(s.view(values[i], left[i], asked))
	}
	return nil
}

// What PTTL answers instead of a time, as the client returns it.
const (
	absent  = time.Duration(-2)
	forever = time.Duration(-1)
)

func (s *Source) view(value *redis.StringCmd, left *redis.DurationCmd, asked time.Time) instrument.BackendView {
	view := instrument.BackendView{Every: s.Every, ValidFor: observe.Believed(s.Every)}
	text, err := value.Result()
	ttl, lateErr := left.Result()
	switch {
	case errors.Is(err, redis.Nil):
		view.State = instrument.BackendVacant
	case err != nil || lateErr != nil: // not a string, or not allowed
	case ttl == absent: // it expired between the two commands
		view.State = instrument.BackendVacant
	default:
		digest := sha256.Sum256([]byte(text))
		view.State, view.Holder = instrument.BackendHeld, hex.EncodeToString(digest[:8])
		if ttl != forever {
			view.Expiry = asked.Add(ttl)
		}
	}
	return view
}
