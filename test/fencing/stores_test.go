//go:build integration

package fencing

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/etcdlock"
	"github.com/leaderscope/leaderscope/instrument/fence"
	"github.com/leaderscope/leaderscope/instrument/fence/httpfence"
	"github.com/leaderscope/leaderscope/instrument/fence/sqlfence"
	"github.com/leaderscope/leaderscope/instrument/redislocklead"
)

// store is what a leader writes to. Each entry is the token under which it was
// written.
type store interface {
	write(ctx context.Context, token uint64) error
	// read returns the tokens in the order in which they were written.
	read(ctx context.Context) ([]uint64, error)
}

// openers make the client of a store, whose checks e records. A store has a
// name on its server.
var openers = map[string]func(e *instrument.Election, address, name string) (store, error){
	"etcd": func(e *instrument.Election, address, name string) (store, error) {
		c, err := etcdClient(address)
		return &etcdStore{c, etcdlock.NewFence(e, c, "/"+name+"/token"), "/" + name + "/entries/"}, err
	},
	"redis": func(e *instrument.Election, address, name string) (store, error) {
		c := redis.NewClient(&redis.Options{Addr: address})
		return &redisStore{c, redislocklead.NewFence(e, c, name+":token"), name + ":entries"}, nil
	},
	"postgres": func(e *instrument.Election, address, name string) (store, error) {
		return openSQL(e, "pgx", "postgres://postgres@"+address+"/postgres", sqlfence.Postgres, name,
			`CREATE TABLE IF NOT EXISTS `+name+` (id bigserial PRIMARY KEY, token text)`, `INSERT INTO `+name+` (token) VALUES ($1)`)
	},
	"mariadb": func(e *instrument.Election, address, name string) (store, error) {
		return openSQL(e, "mysql", "root@tcp("+address+")/mysql", sqlfence.MySQL, name,
			`CREATE TABLE IF NOT EXISTS `+name+` (id bigint AUTO_INCREMENT PRIMARY KEY, token text)`, `INSERT INTO `+name+` (token) VALUES (?)`)
	},
	"http": func(_ *instrument.Election, address, name string) (store, error) {
		return &httpStore{&http.Client{Transport: httpfence.Transport(nil)}, "http://" + address + "/" + name}, nil
	},
}

func etcdClient(address string) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{Endpoints: strings.Split(address, ","), Logger: zap.NewNop()})
}

type etcdStore struct {
	c      *clientv3.Client
	fence  *etcdlock.Fence
	prefix string
}

func (s *etcdStore) write(ctx context.Context, token uint64) error {
	key := fmt.Sprintf("%s%d-%d", s.prefix, os.Getpid(), nextEntry.Add(1))
	_, err := s.fence.Write(ctx, token, clientv3.OpPut(key, fence.Format(token)))
	return err
}

func (s *etcdStore) read(ctx context.Context) (tokens []uint64, err error) {
	resp, err := s.c.Get(ctx, s.prefix, clientv3.WithPrefix(), clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	if err != nil {
		return nil, err
	}
	for _, kv := range resp.Kvs {
		tokens, err = added(tokens, err, string(kv.Value))
	}
	return tokens, err
}

func added(tokens []uint64, before error, word string) ([]uint64, error) {
	token, err := strconv.ParseUint(word, 10, 64)
	return append(tokens, token), errors.Join(before, err)
}

type redisStore struct {
	c     *redis.Client
	fence *redislocklead.Fence
	list  string
}

var push = redislocklead.NewWrite(`return redis.call('RPUSH', KEYS[1], ARGV[1])`)

func (s *redisStore) write(ctx context.Context, token uint64) error {
	_, err := s.fence.Run(ctx, token, push, []string{s.list}, fence.Format(token))
	return err
}

func (s *redisStore) read(ctx context.Context) (tokens []uint64, err error) {
	words, err := s.c.LRange(ctx, s.list, 0, -1).Result()
	for _, word := range words {
		tokens, err = added(tokens, err, word)
	}
	return tokens, err
}

type sqlStore struct {
	db           *sql.DB
	guard        *sqlfence.Guard
	name, insert string
}

func openSQL(e *instrument.Election, driver, dsn string, d sqlfence.Dialect, name, table, insert string) (store, error) {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, err
	}
	for _, statement := range []string{sqlfence.Schema(d), table} {
		// Two processes that make one table at once disturb each other.
		for range 3 {
			if _, err = db.Exec(statement); err == nil {
				break
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return &sqlStore{db, sqlfence.New(e, d, name), name, insert}, nil
}

func (s *sqlStore) write(ctx context.Context, token uint64) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := s.guard.Check(ctx, tx, token); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, s.insert, fence.Format(token)); err != nil {
		return err
	}
	return tx.Commit()
}

func (s *sqlStore) read(ctx context.Context) (tokens []uint64, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT token FROM `+s.name+` ORDER BY id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var word string
		err = errors.Join(err, rows.Scan(&word))
		tokens, err = added(tokens, err, word)
	}
	return tokens, errors.Join(err, rows.Err())
}

// httpStore is the client of a service that owns the resource.
type httpStore struct {
	c   *http.Client
	url string
}

func (s *httpStore) write(ctx context.Context, token uint64) error {
	r, err := http.NewRequestWithContext(fence.WithToken(ctx, token), http.MethodPost, s.url, nil)
	if err != nil {
		return err
	}
	resp, err := s.c.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusConflict:
		return fence.ErrStale
	}
	return errors.New(resp.Status)
}

func (s *httpStore) read(ctx context.Context) (tokens []uint64, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := s.c.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	for _, word := range strings.Fields(string(text)) {
		tokens, err = added(tokens, err, word)
	}
	return tokens, err
}

// service is the one that owns the resources of httpStore. A restart forgets
// what is in memory, and reads the highest token with the entries.
type service struct {
	e       *instrument.Election
	life    sync.RWMutex // held for reading by requests
	handler http.Handler
	stored  sync.Mutex
	entries map[string][]uint64
}

func newService(t *testing.T) (*service, *instrument.Middleware) {
	t.Helper()
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	s := &service{e: m.Election("ledger", instrument.WatchOnly()), entries: map[string][]uint64{"fence_a": nil, "fence_b": nil}}
	s.restart()
	return s, m
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.life.RLock()
	defer s.life.RUnlock()
	s.handler.ServeHTTP(w, r)
}

func (s *service) restart() {
	s.life.Lock()
	defer s.life.Unlock()
	mux := http.NewServeMux()
	for name := range s.entries {
		var highest uint64
		for _, token := range s.entries[name] {
			highest = max(highest, token)
		}
		mux.Handle("POST /"+name, httpfence.Handler(fence.From(s.e, highest), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			token, _ := fence.TokenFrom(r.Context())
			s.stored.Lock()
			defer s.stored.Unlock()
			s.entries[name] = append(s.entries[name], token)
		})))
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, _ *http.Request) {
			s.stored.Lock()
			defer s.stored.Unlock()
			for _, token := range s.entries[name] {
				fmt.Fprintln(w, token)
			}
		})
	}
	s.handler = mux
}
