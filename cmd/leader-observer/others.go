package main

import (
	"crypto/tls"
	"fmt"
	"os"
	"strings"

	natsgo "github.com/nats-io/nats.go"
	goredis "github.com/redis/go-redis/v9"

	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/config"
	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/nats"
	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/observe"
	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/postgres"
	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/redis"
	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/zookeeper"
)

// otherSources connect when they run.
func otherSources(c config.Config, backend func(string) *observe.Backend) (all []source, err error) {
	for _, p := range c.Postgres {
		url, err := secret(p.URLFile, p.Name)
		if err != nil {
			return nil, err
		}
		s := postgres.Source{URL: url, Every: p.Every}
		for _, l := range p.Locks {
			s.Locks = append(s.Locks, postgres.Lock{Name: l.Name, Key: int64(*l.Key)})
		}
		b := backend(p.Name)
		all = append(all, source{b, s.Watch(b).Run})
	}
	for _, r := range c.Redis {
		password, err := secret(r.PasswordFile, r.Name)
		if err != nil {
			return nil, err
		}
		o := &goredis.Options{Addr: r.Address, Username: r.Username, Password: password, DB: r.Database, MaxRetries: -1, PoolSize: 1}
		if r.TLS {
			o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		b := backend(r.Name)
		all = append(all, source{b, redis.Source{Options: o, Every: r.Every, Keys: r.Keys}.Watch(b).Run})
	}
	for _, n := range c.NATS {
		s := nats.Source{URL: n.URL, Bucket: n.Bucket, Keys: n.Keys}
		if n.CredentialsFile != "" {
			s.Options = append(s.Options, natsgo.UserCredentials(n.CredentialsFile))
		}
		b := backend(n.Name)
		all = append(all, source{b, s.Watch(b).Run})
	}
	for _, z := range c.ZooKeeper {
		b := backend(z.Name)
		all = append(all, source{b, zookeeper.Source{Servers: z.Servers, Timeout: z.Timeout, Paths: z.Paths}.Watch(b).Run})
	}
	return all, nil
}

// secret returns the contents of a file without the final line break, or an empty
// text if no file is configured.
func secret(file, of string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read a secret of %q: %w", of, err)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}
