//go:build integration

package observer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/redis/go-redis/v9"

	"github.com/leaderscope/leaderscope/test/server"
)

// lockable is a lock of a backend that a test takes and gives back as electors
// would.
type lockable struct {
	server.Server
	*process
	backend, lock string
	// take takes the lock and returns how the holder is shown.
	take func(t *testing.T) (holder string)
	free func(t *testing.T)
	// dies has the holder die; nil: as free.
	dies func(t *testing.T)
	// polled backends do not see what lies between two readings.
	polled bool
}

var others = map[string]func(*testing.T) *lockable{"postgres": newPostgres, "redis": newRedis, "nats": newNATS, "zookeeper": newZooKeeper}

func newPostgres(t *testing.T) *lockable {
	s := start(t, "postgres")
	url := "postgres://postgres@" + s.Addresses()[0] + "/postgres"
	file := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(file, []byte(url+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := run(t, fmt.Sprintf(`
redaction: {policy: raw}
postgres:
  - urlFile: %s
    every: 200ms
    locks:
      - {name: report, key: -42}
`, file))
	var conn *pgx.Conn
	l := &lockable{Server: s, process: p, backend: "postgres", lock: "report", polled: true}
	l.take = func(t *testing.T) string {
		var err error
		if conn, err = pgx.Connect(t.Context(), url+"?application_name=reporter"); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), "select pg_advisory_lock(-42)"); err != nil {
			t.Fatal(err)
		}
		var began int64
		if err := conn.QueryRow(t.Context(), "select extract(epoch from backend_start)::bigint from pg_stat_activity where pid = pg_backend_pid()").Scan(&began); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("reporter/%d/%d", conn.PgConn().PID(), began)
	}
	l.free = func(t *testing.T) {
		if _, err := conn.Exec(t.Context(), "select pg_advisory_unlock(-42)"); err != nil {
			t.Fatal(err)
		}
		_ = conn.Close(t.Context())
	}
	l.dies = func(*testing.T) { _ = conn.PgConn().Conn().Close() }
	return l
}

func newRedis(t *testing.T) *lockable {
	s := start(t, "redis")
	p := run(t, fmt.Sprintf(`
redaction: {policy: raw}
redis:
  - address: %s
    every: 200ms
    keys: [report, list]
`, s.Addresses()[0]))
	client := redis.NewClient(&redis.Options{Addr: s.Addresses()[0]})
	t.Cleanup(func() { _ = client.Close() })
	n := 0
	return &lockable{Server: s, process: p, backend: "redis", lock: "report", polled: true,
		take: func(t *testing.T) string {
			n++
			value := fmt.Sprint("secret-", n)
			if err := client.Set(t.Context(), "report", value, 2*time.Second).Err(); err != nil {
				t.Fatal(err)
			}
			digest := sha256.Sum256([]byte(value))
			return hex.EncodeToString(digest[:8])
		},
		free: func(t *testing.T) {
			if err := client.Del(t.Context(), "report").Err(); err != nil {
				t.Fatal(err)
			}
		},
		dies: func(*testing.T) { pause(2) }}
}

func newNATS(t *testing.T) *lockable {
	s := start(t, "nats")
	url := "nats://" + s.Addresses()[0]
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "leases", TTL: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	p := run(t, fmt.Sprintf(`
redaction: {policy: raw}
nats:
  - url: %q
    bucket: leases
`, url))
	return &lockable{Server: s, process: p, backend: "nats", lock: "report",
		take: func(t *testing.T) string {
			if _, err := kv.Create(t.Context(), "report", []byte("replica 1 ABCDEFGHIJKLMNOPQRSTUVWXYZ")); err != nil {
				t.Fatal(err)
			}
			return "replica 1"
		},
		free: func(t *testing.T) {
			if err := kv.Delete(t.Context(), "report"); err != nil {
				t.Fatal(err)
			}
		},
		dies: func(*testing.T) { pause(2) }}
}

func newZooKeeper(t *testing.T) *lockable {
	s := start(t, "zookeeper")
	p := run(t, fmt.Sprintf(`
redaction: {policy: raw}
zookeeper:
  - servers: [%q]
    paths: [/locks/report]
`, s.Addresses()[0]))
	connect := func(t *testing.T) *zk.Conn {
		conn, _, err := zk.Connect(s.Addresses(), 4*time.Second, zk.WithLogInfo(false))
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	keeps := connect(t)
	t.Cleanup(keeps.Close)
	var conn *zk.Conn
	node := ""
	return &lockable{Server: s, process: p, backend: "zookeeper", lock: "/locks/report",
		take: func(t *testing.T) (name string) {
			for _, parent := range []string{"/locks", "/locks/report"} {
				_, _ = keeps.Create(parent, nil, 0, zk.WorldACL(zk.PermAll))
			}
			conn = connect(t)
			var err error
			if node, err = conn.CreateProtectedEphemeralSequential("/locks/report/lock-", nil, zk.WorldACL(zk.PermAll)); err != nil {
				t.Fatal(err)
			}
			return filepath.Base(node)
		},
		free: func(t *testing.T) {
			if err := conn.Delete(node, -1); err != nil {
				t.Fatal(err)
			}
			conn.Close()
		},
		dies: func(*testing.T) { conn.Close() }}
}

func (l *lockable) shows(t *testing.T, what string, held float64, by string) map[string]float64 {
	t.Helper()
	var got map[string]float64
	eventually(t, what, func() bool {
		var holder string
		got, holder = l.process.lock(t, l.backend, l.lock)
		v, known := got["held"]
		return known && v == held && holder == by && l.up(t, l.backend) == 1
	})
	return got
}

// Taken, released, taken by another who dies, and a server that goes away.
func TestEachBackendShowsWhoHoldsALock(t *testing.T) {
	for name, make := range others {
		t.Run(name, func(t *testing.T) {
			l := make(t)
			eventually(t, "the server answers", func() bool { return l.up(t, l.backend) == 1 })
			if name != "nats" { // which has no list of keys that are not there
				l.shows(t, "nobody holds it", 0, "")
			}
			r := referee{t: t}
			holder := l.take(t)
			l.shows(t, "the first holds it", 1, holder)
			r.holds(holder, time.Now())
			l.free(t)
			r.frees(time.Now())
			l.shows(t, "it was given back", 0, "")
			pause(1)
			holder = l.take(t)
			r.holds(holder, time.Now())
			got := l.shows(t, "the second holds it", 1, holder)
			if got["handover_seconds_count"] != r.gaps || got["terms_total"] != r.terms || got["handover_seconds_sum"] < 0.3 || got["handover_seconds_sum"] > 2 {
				t.Errorf("after one gap of a second: %v", got)
			}
			l.dies(t)
			l.shows(t, "the second died", 0, "")
			if _, polls := l.series(t)["leader_backend_poll_interval_seconds{backend="+l.backend+"}"]; polls != l.polled {
				t.Errorf("the interval is told: %v", polls)
			}
			l.Down()
			eventually(t, "the server is away", func() bool { return l.up(t, l.backend) == 0 })
			got, _ = l.process.lock(t, l.backend, l.lock)
			vacant := got["vacant_seconds_total"]
			if _, known := got["held"]; known {
				t.Errorf("while the server is away: %v", got)
			}
			pause(2)
			if got, _ = l.process.lock(t, l.backend, l.lock); got["vacant_seconds_total"] != vacant {
				t.Errorf("time without a server is vacant: %v, %v before", got, vacant)
			}
			if err := l.Up(); err != nil {
				t.Fatal(err)
			}
			l.shows(t, "the server is back", 0, "")
		})
	}
}

func TestAKeyThatIsNoLockIsUnknown(t *testing.T) {
	s := start(t, "redis")
	p := run(t, fmt.Sprintf("redaction: {policy: raw}\nredis:\n  - {address: %q, every: 200ms, keys: [list, report]}\n", s.Addresses()[0]))
	client := redis.NewClient(&redis.Options{Addr: s.Addresses()[0]})
	defer client.Close()
	if err := client.LPush(context.Background(), "list", "x").Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the list is unknown and the other key is vacant", func() bool {
		list, _ := p.lock(t, "redis", "list")
		report, _ := p.lock(t, "redis", "report")
		_, known := list["held"]
		held, vacant := report["held"]
		return len(list) > 0 && !known && vacant && held == 0
	})
}

// A prepared transaction has no session. It keeps its lock when the session ends and
// when the server restarts, until it is committed or rolled back.
func TestAPreparedTransactionHoldsItsLock(t *testing.T) {
	const prepared = "prepared transaction/0/0"
	l := newPostgres(t)
	connect := func() *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), "postgres://postgres@"+l.Addresses()[0]+"/postgres?application_name=reporter")
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	do := func(conn *pgx.Conn, statements ...string) {
		t.Helper()
		for _, s := range statements {
			if _, err := conn.Exec(t.Context(), s); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
	}
	restart := func() {
		t.Helper()
		l.Down()
		if err := l.Up(); err != nil {
			t.Fatal(err)
		}
	}
	conn := connect()
	do(conn, "alter system set max_prepared_transactions = 2")
	_ = conn.Close(t.Context())
	restart()
	for end, how := range map[string]string{"commit": "commit prepared 'work'", "roll back": "rollback prepared 'work'"} {
		t.Run(end, func(t *testing.T) {
			l.shows(t, "nobody holds it", 0, "")
			conn := connect()
			do(conn, "begin", "select pg_advisory_xact_lock(-42)", "prepare transaction 'work'")
			l.shows(t, "it is prepared", 1, prepared)
			_ = conn.Close(t.Context())
			restart()
			l.shows(t, "its session has ended and the server has restarted", 1, prepared)
			conn = connect()
			do(conn, how)
			_ = conn.Close(t.Context())
			l.shows(t, "it has ended", 0, "")
		})
	}
}
