package fencing

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/fence"
	"github.com/leaderscope/leaderscope/instrument/fence/sqlfence"
)

// ledger is a file of SQLite with entries, which a guard checks.
type ledger struct {
	file string
	db   *sql.DB
	m    *instrument.Middleware
	e    *instrument.Election
}

func newLedger(t *testing.T) *ledger {
	t.Helper()
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	l := &ledger{file: filepath.Join(t.TempDir(), "ledger.db"), m: m, e: m.Election("ledger", instrument.WatchOnly())}
	l.open(t)
	for _, statement := range []string{sqlfence.Schema(sqlfence.SQLite), sqlfence.Schema(sqlfence.SQLite),
		`CREATE TABLE entries (id integer PRIMARY KEY AUTOINCREMENT, token text)`} {
		if _, err := l.db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = l.db.Close() })
	return l
}

// open opens the file, as a process does that begins.
func (l *ledger) open(t *testing.T) {
	t.Helper()
	if l.db != nil {
		_ = l.db.Close()
	}
	var err error
	if l.db, err = sql.Open("sqlite", "file:"+l.file+"?_pragma=busy_timeout(60000)&_pragma=journal_mode(WAL)"); err != nil {
		t.Fatal(err)
	}
}

// write appends an entry under the token that ctx carries, in the row of that
// name.
func (l *ledger) write(ctx context.Context, row string) (err error) {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	if err := sqlfence.New(l.e, sqlfence.SQLite, row).CheckContext(ctx, tx); err != nil {
		return err
	}
	token, _ := fence.TokenFrom(ctx)
	if _, err := tx.ExecContext(ctx, `INSERT INTO entries (token) VALUES (?)`, fence.Format(token)); err != nil {
		return err
	}
	return tx.Commit()
}

func (l *ledger) tokens(t *testing.T) (tokens []uint64) {
	t.Helper()
	rows, err := l.db.QueryContext(t.Context(), `SELECT token FROM entries ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var word string
		if err := rows.Scan(&word); err != nil {
			t.Fatal(err)
		}
		token, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, token)
	}
	return tokens
}

// shows compares all series of the lock.
func (l *ledger) shows(t *testing.T, admitted, stale, missing int, highest float64) {
	t.Helper()
	want := electtest.Series{
		electtest.Of(catalog.FencingChecks, "admitted"): float64(admitted),
		electtest.Of(catalog.FencingChecks, "stale"):    float64(stale),
		electtest.Of(catalog.FencingChecks, "missing"):  float64(missing),
		electtest.Of(catalog.FencingHighestToken):       highest,
	}
	if diff := cmp.Diff(want, electtest.Read(l.m, l.e.Label())); diff != "" {
		t.Error(diff)
	}
}

func TestSQLiteComparesTokensAsNumbersUpToTheLast(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		t.Run(fmt.Sprint("restarted ", restarts), func(t *testing.T) {
			l := newLedger(t)
			var highest uint64
			var want []uint64
			stale := 0
			for _, token := range []uint64{0, 0, 9, 10, 9, 99, 100, 1 << 53, 1<<53 + 1, 1 << 53, 1<<53 + 2, math.MaxInt64, math.MaxInt64 + 1, math.MaxInt64,
				math.MaxUint64 - 1, math.MaxUint64, math.MaxUint64 - 1, math.MaxUint64, 0} {
				if restarts {
					l.open(t)
				}
				highest = max(highest, token)
				err := l.write(fence.WithToken(t.Context(), token), "ledger")
				if token < highest {
					stale++
					refusal, ok := errors.AsType[*fence.StaleError](err)
					if !ok || *refusal != (fence.StaleError{Token: token, Highest: highest}) {
						t.Errorf("token %d after %d: %v", token, highest, err)
					}
					continue
				}
				if want = append(want, token); err != nil {
					t.Errorf("token %d: %v", token, err)
				}
			}
			if err := l.write(t.Context(), "ledger"); !errors.Is(err, fence.ErrMissing) {
				t.Errorf("without a token: %v", err)
			}
			if diff := cmp.Diff(want, l.tokens(t)); diff != "" {
				t.Error(diff)
			}
			l.shows(t, len(want), stale, 1, math.MaxUint64)
		})
	}
}

func TestLocksInOneDatabaseOfSQLiteHaveTokensOfTheirOwn(t *testing.T) {
	l := newLedger(t)
	for _, c := range []struct {
		row   string
		token uint64
		want  error
	}{{"ledger", 6, nil}, {"archive", 3, nil}, {"ledger", 3, fence.ErrStale}, {"LEDGER", 1, nil}, {"ledger ", 1, nil}, {"archive", 3, nil}} {
		if err := l.write(fence.WithToken(t.Context(), c.token), c.row); !errors.Is(err, c.want) {
			t.Errorf("%q, token %d: %v", c.row, c.token, err)
		}
	}
	if diff := cmp.Diff([]uint64{6, 3, 1, 1, 3}, l.tokens(t)); diff != "" {
		t.Error(diff)
	}
}

// A term whose first write failed has written nothing: the store does not know
// of it.
func TestATokenThatWasRolledBackInSQLiteFencesNobody(t *testing.T) {
	l := newLedger(t)
	guard := sqlfence.New(l.e, sqlfence.SQLite, "ledger")
	tx, err := l.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(guard.Check(t.Context(), tx, 9), tx.Rollback()); err != nil {
		t.Fatal(err)
	}
	if err := l.write(fence.WithToken(t.Context(), 8), "ledger"); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]uint64{8}, l.tokens(t)); diff != "" {
		t.Error(diff)
	}
}

// A table that was made with another type loses digits. No write passes under a
// token that it cannot hold.
func TestAColumnOfSQLiteThatRoundsTokensAdmitsNothing(t *testing.T) {
	for _, kind := range []string{"real", "integer", "numeric"} {
		t.Run(kind, func(t *testing.T) {
			l := newLedger(t)
			for _, statement := range []string{`DROP TABLE fencing_tokens`, `CREATE TABLE fencing_tokens (name text PRIMARY KEY, token ` + kind + ` NOT NULL)`} {
				if _, err := l.db.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			for _, token := range []uint64{math.MaxUint64, math.MaxUint64 - 1, 1 << 63} {
				if err := l.write(fence.WithToken(t.Context(), token), "ledger"); err == nil || errors.Is(err, fence.ErrStale) {
					t.Errorf("token %d: %v", token, err)
				}
			}
			if got := l.tokens(t); len(got) > 0 {
				t.Errorf("written: %v", got)
			}
		})
	}
}

func TestOf64WritersWithPausesNoLateOneReachesSQLite(t *testing.T) {
	const writers, turns = 64, 3
	l := newLedger(t)
	var term, stored, late atomic.Int64
	var group sync.WaitGroup
	for w := range uint64(writers) {
		group.Go(func() {
			random := rand.New(rand.NewPCG(1, w))
			for range turns {
				token := 1<<62 + uint64(term.Add(1))
				time.Sleep(time.Duration(random.Int64N(int64(50 * time.Millisecond))))
				switch err := l.write(fence.WithToken(t.Context(), token), "ledger"); {
				case err == nil:
					stored.Add(1)
				case errors.Is(err, fence.ErrStale):
					late.Add(1)
				default:
					t.Errorf("token %d: %v", token, err)
				}
			}
		})
	}
	group.Wait()
	tokens := l.tokens(t)
	if !slices.IsSorted(tokens) || int64(len(tokens)) != stored.Load() || late.Load() == 0 {
		t.Errorf("%d refused, %d admitted, %d stored: %v", late.Load(), stored.Load(), len(tokens), tokens)
	}
	l.shows(t, int(stored.Load()), int(late.Load()), 0, 1<<62+writers*turns)
}
