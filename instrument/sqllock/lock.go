package sqllock

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"unicode/utf8"
)

// Lock is an advisory lock of a database. Printed, logged or encoded, it shows
// the kind of lock and neither name nor key.
type Lock struct {
	kind    *kind
	waits   bool
	key     func() any // a closure, since printers that walk through fields stop at it
	invalid error
}

// Postgres is pg_advisory_lock: it waits for the lock.
func Postgres(key int64) Lock {
	return Lock{kind: &postgresWaiting, waits: true, key: func() any { return key }}
}

// PostgresTry is pg_try_advisory_lock: it answers at once.
func PostgresTry(key int64) Lock {
	return Lock{kind: &postgresTrying, key: func() any { return key }}
}

// MariaDB is GET_LOCK, also of MySQL, with a timeout of a year: in effect until
// the caller's context ends. A name has 1 to 64 characters.
func MariaDB(name string) Lock {
	return Lock{kind: &mariaWaiting, waits: true, key: func() any { return name }, invalid: badName(name)}
}

// MariaDBTry is GET_LOCK without a wait: it answers at once. A name has 1 to 64
// characters.
func MariaDBTry(name string) Lock {
	return Lock{kind: &mariaTrying, key: func() any { return name }, invalid: badName(name)}
}

// badName refuses what the server would refuse with the name in its error.
func badName(name string) error {
	const most = 64 // of MySQL; MariaDB allows more
	switch n := utf8.RuneCountInString(name); {
	case n == 0:
		return errors.New("the lock name is empty")
	case n > most:
		return fmt.Errorf("the lock name has %d characters, want at most %d", n, most)
	}
	return nil
}

// kind has the statements of one kind of lock. Each but the first is given the
// session that it has to run in, and the key, and answers with one number.
type kind struct {
	name    string
	session string // answers with the number of the session
	take    statement
	give    statement
	check   statement
}

// statement is a query whose parameters are the session and, keys times, the
// key.
type statement struct {
	text string
	keys int
}

// The answers. NULL is none of them.
const (
	refused   = 0  // another holds the lock; from give and check: not this session
	taken     = 1  // this session holds the lock; from give: it did until now
	elsewhere = -1 // the statement ran in another session, and did nothing
	shared    = -2 // this session held the lock before it was asked for
	null      = -3
)

var (
	postgresWaiting = postgres("(pg_advisory_lock($2::bigint) IS NOT NULL)::int")
	postgresTrying  = postgres("pg_try_advisory_lock($2::bigint)::int")
	mariaWaiting    = maria("GET_LOCK(?, 31536000)")
	mariaTrying     = maria("GET_LOCK(?, 0)")
)

// postgres guards each statement by the session that it has to run in: a
// pooler may have sent it to another, where it must change nothing. A session
// that holds the lock already would be given it once more.
func postgres(take string) kind {
	const (
		here = "SELECT CASE WHEN pg_backend_pid() <> $1::int THEN -1 "
		held = `EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = pg_backend_pid()
			AND classid::bigint = ($2::bigint >> 32) & 4294967295 AND objid::bigint = $2::bigint & 4294967295 AND objsubid = 1)`
	)
	return kind{
		name:    "PostgreSQL advisory lock",
		session: "SELECT pg_backend_pid()",
		take:    statement{here + "WHEN " + held + " THEN -2 ELSE " + take + " END", 1},
		give:    statement{here + "ELSE pg_advisory_unlock($2::bigint)::int END", 1},
		check:   statement{here + "WHEN " + held + " THEN 1 ELSE 0 END", 1},
	}
}

func maria(take string) kind {
	const (
		here = "SELECT CASE WHEN CONNECTION_ID() <> ? THEN -1 "
		held = "COALESCE(IS_USED_LOCK(?) = CONNECTION_ID(), 0)"
	)
	return kind{
		name:    "MariaDB named lock",
		session: "SELECT CONNECTION_ID()",
		take:    statement{here + "WHEN " + held + " THEN -2 ELSE " + take + " END", 2},
		give:    statement{here + "ELSE RELEASE_LOCK(?) END", 1},
		check:   statement{here + "WHEN " + held + " THEN 1 ELSE 0 END", 1},
	}
}

// args are the parameters of a statement.
func (l Lock) args(s statement, session int64) []any {
	args := []any{session}
	for range s.keys {
		args = append(args, l.key())
	}
	return args
}

// String is the kind of lock.
func (l Lock) String() string {
	if l.kind == nil {
		return "no lock"
	}
	return l.kind.name
}

// Format writes the kind of lock for every verb.
func (l Lock) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, l.String()) }

// MarshalText returns the kind of lock.
func (l Lock) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// LogValue returns the kind of lock.
func (l Lock) LogValue() slog.Value { return slog.StringValue(l.String()) }

// String is the kind of lock.
func (a *acquirer) String() string { return a.lock.String() }

// Format writes the kind of lock for every verb.
func (a *acquirer) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, a.String()) }

// LogValue returns the kind of lock.
func (a *acquirer) LogValue() slog.Value { return slog.StringValue(a.String()) }
