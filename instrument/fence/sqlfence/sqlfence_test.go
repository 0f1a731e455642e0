package sqlfence_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/fence"
	"github.com/leaderscope/leaderscope/instrument/fence/sqlfence"
)

// database answers a check as a server does whose table is a map. It knows
// nothing of transactions and of the statement's text: real servers are asked
// in the integration tests.
type database struct {
	tokens map[string]uint64
	asked  []string // arguments of the statements
	fails  error
	noID   error                       // of an insert
	loses  func(highest uint64) uint64 // what arrives of an answer; nil: all
}

func (d *database) Connect(context.Context) (driver.Conn, error) { return d, nil }
func (d *database) Driver() driver.Driver                        { return nil }
func (d *database) Prepare(string) (driver.Stmt, error)          { return nil, errors.ErrUnsupported }
func (d *database) Close() error                                 { return nil }
func (d *database) Begin() (driver.Tx, error)                    { return tx{}, nil }

type tx struct{}

func (tx) Commit() error   { return nil }
func (tx) Rollback() error { return nil }

func (d *database) keep(args []driver.NamedValue) (uint64, error) {
	name, word := args[0].Value.(string), args[1].Value.(string)
	d.asked = append(d.asked, name+" "+word)
	if d.fails != nil {
		return 0, d.fails
	}
	token, err := strconv.ParseUint(word, 10, 64)
	d.tokens[name] = max(d.tokens[name], token)
	if d.loses != nil {
		return d.loses(d.tokens[name]), err
	}
	return d.tokens[name], err
}

func (d *database) QueryContext(_ context.Context, _ string, args []driver.NamedValue) (driver.Rows, error) {
	highest, err := d.keep(args)
	if err != nil {
		return nil, err
	}
	return &row{value: fmt.Sprintf("%020d", highest)}, nil
}

func (d *database) ExecContext(_ context.Context, _ string, args []driver.NamedValue) (driver.Result, error) {
	highest, err := d.keep(args)
	return result{highest, d.noID}, err
}

type result struct {
	id  uint64
	err error
}

func (r result) LastInsertId() (int64, error) { return int64(r.id), r.err }
func (r result) RowsAffected() (int64, error) { return 0, nil }

type row struct {
	value string
	read  bool
}

func (*row) Columns() []string { return []string{"token"} }
func (*row) Close() error      { return nil }
func (r *row) Next(to []driver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read, to[0] = true, r.value
	return nil
}

func begin(t *testing.T, d *database) *sql.Tx {
	t.Helper()
	db := sql.OpenDB(d)
	t.Cleanup(func() { _ = db.Close() })
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	return tx
}

func newElection(t *testing.T) (*instrument.Middleware, *instrument.Election) {
	t.Helper()
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	return m, m.Election("ledger", instrument.WatchOnly())
}

func TestACheckIsOneStatementWhateverTheNumber(t *testing.T) {
	for name, c := range map[string]struct {
		dialect sqlfence.Dialect
		words   string // how tokens are sent
	}{
		"PostgreSQL": {sqlfence.Postgres, "%d"}, "MariaDB": {sqlfence.MySQL, "%d"}, "SQLite": {sqlfence.SQLite, "%020d"},
	} {
		t.Run(name, func(t *testing.T) {
			m, e := newElection(t)
			d := &database{tokens: map[string]uint64{}}
			g, tx := sqlfence.New(e, c.dialect, "row"), begin(t, d)
			var asked []string
			for _, check := range []struct{ token, highest uint64 }{
				{0, 0}, {9, 9}, {10, 10}, {9, 10}, {1<<53 + 1, 1<<53 + 1}, {1 << 53, 1<<53 + 1}, {math.MaxUint64, math.MaxUint64}, {math.MaxInt64, math.MaxUint64},
			} {
				var want error
				if check.token < check.highest {
					want = &fence.StaleError{Token: check.token, Highest: check.highest}
				}
				if err := g.Check(t.Context(), tx, check.token); fmt.Sprint(err) != fmt.Sprint(want) {
					t.Errorf("token %d: %v, want %v", check.token, err, want)
				}
				asked = append(asked, "row "+fmt.Sprintf(c.words, check.token))
			}
			if diff := cmp.Diff(asked, d.asked); diff != "" {
				t.Error(diff)
			}
			want := electtest.Series{
				electtest.Of(catalog.FencingChecks, "admitted"): 5, electtest.Of(catalog.FencingChecks, "stale"): 3,
				electtest.Of(catalog.FencingChecks, "missing"): 0, electtest.Of(catalog.FencingHighestToken): math.MaxUint64,
			}
			if diff := cmp.Diff(want, electtest.Read(m, e.Label())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatCannotBeCheckedIsNotAdmitted(t *testing.T) {
	down := errors.New("down")
	for _, c := range []struct {
		name    string
		dialect sqlfence.Dialect
		fails   error
		noID    error
		loses   func(uint64) uint64
		token   uint64 // 0: 3
		without bool   // a transaction
		ctx     bool   // that carries a token
		want    string
		missing float64
	}{
		{name: "no transaction", without: true, ctx: true, want: "leaderscope: fencing check without a transaction; pass the one that writes"},
		{name: "an unknown dialect", dialect: 200, ctx: true, want: "leaderscope: fencing check for an unknown dialect; use sqlfence.Postgres, MySQL or SQLite"},
		{name: "the database fails", fails: down, ctx: true, want: "leaderscope: fencing check failed, roll the transaction back: down"},
		{name: "an insert fails", dialect: sqlfence.MySQL, fails: down, ctx: true, want: "leaderscope: fencing check failed, roll the transaction back: down"},
		{name: "an insert tells no id", dialect: sqlfence.MySQL, noID: down, ctx: true, want: "leaderscope: fencing check failed, roll the transaction back: down"},
		{name: "the driver gives no insert id", dialect: sqlfence.MySQL, loses: func(uint64) uint64 { return 0 }, ctx: true,
			want: "leaderscope: fencing check failed, roll the transaction back: the database answers 0 to token 3; use the table of sqlfence.Schema, and a driver that gives the insert id unchanged"},
		{name: "the column holds floats", loses: func(h uint64) uint64 { return uint64(float64(h)) }, token: 1<<53 + 1, ctx: true,
			want: "leaderscope: fencing check failed, roll the transaction back: the database answers 9007199254740992 to token 9007199254740993; use the table of sqlfence.Schema, and a driver that gives the insert id unchanged"},
		{name: "no token", want: fence.ErrMissing.Error(), missing: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, e := newElection(t)
			d := &database{tokens: map[string]uint64{}, fails: c.fails, noID: c.noID, loses: c.loses}
			g, tx, ctx := sqlfence.New(e, c.dialect, "row"), begin(t, d), t.Context()
			if c.without {
				tx = nil
			}
			if c.ctx {
				ctx = fence.WithToken(ctx, max(c.token, 3))
			}
			err := g.CheckContext(ctx, tx)
			if fmt.Sprint(err) != c.want || c.fails != nil && !errors.Is(err, c.fails) {
				t.Errorf("%v, want %s", err, c.want)
			}
			want := electtest.Series{
				electtest.Of(catalog.FencingChecks, "admitted"): 0, electtest.Of(catalog.FencingChecks, "stale"): 0,
				electtest.Of(catalog.FencingChecks, "missing"): c.missing,
			}
			if diff := cmp.Diff(want, electtest.Read(m, e.Label())); diff != "" {
				t.Error(diff)
			}
		})
	}
	var none *sqlfence.Guard
	if err := errors.Join(none.Check(t.Context(), nil, 1), none.CheckContext(t.Context(), nil)); err != nil {
		t.Error(err)
	}
}

func TestNothingPrintsTheNameOfTheRow(t *testing.T) {
	g := sqlfence.New(nil, sqlfence.Postgres, "tenant-bravo")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb, struct{ g *sqlfence.Guard }{g}) + fmt.Sprintf(verb, *g); strings.Contains(text, "bravo") {
			t.Errorf("%s prints %s", verb, text)
		}
	}
}

func TestEachDialectHasASchema(t *testing.T) {
	for d := range sqlfence.SQLite + 1 {
		if !strings.HasPrefix(sqlfence.Schema(d), "CREATE TABLE IF NOT EXISTS fencing_tokens (name ") {
			t.Errorf("dialect %d: %q", d, sqlfence.Schema(d))
		}
	}
	if s := sqlfence.Schema(sqlfence.SQLite + 1); s != "" {
		t.Errorf("an unknown dialect: %q", s)
	}
}
