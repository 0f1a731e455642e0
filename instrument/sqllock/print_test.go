package sqllock_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument/sqllock"
)

func TestNothingPrintsTheNameOfALock(t *testing.T) {
	const name, key = "tenant-bravo-gmbh", 4711471147114711
	db := newDatabase().pool(t)
	type holder struct{ lock sqllock.Lock } // fmt prints its fields without their methods
	for _, lock := range []sqllock.Lock{
		sqllock.MariaDB(name), sqllock.MariaDBTry(name), sqllock.Postgres(key), sqllock.PostgresTry(key), {},
	} {
		acquirer := sqllock.NewLock(db, lock, time.Second)
		values := map[string]any{
			"lock": lock, "pointer": &lock, "within a struct": holder{lock}, "within a slice": []any{lock}, "acquirer": acquirer,
		}
		if lease, err := acquirer.Acquire(t.Context()); err == nil {
			values["lease"] = lease
			defer lease.Release(t.Context())
		}
		for what, v := range values {
			var out bytes.Buffer
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
				fmt.Fprintf(&out, verb+"\n", v)
			}
			for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
				slog.New(handler).Info("lock", "lock", v)
			}
			encoded, _ := json.Marshal(v)
			out.Write(encoded)
			for _, secret := range []string{name, fmt.Sprint(key), fmt.Sprintf("%x", name), fmt.Sprintf("%x", key), "bravo"} {
				if strings.Contains(strings.ToLower(out.String()), secret) {
					t.Errorf("%s of %v shows %q:\n%s", what, lock, secret, out.String())
				}
			}
		}
	}
}

// A JSON handler would show nothing of what it can only encode.
func TestALogNamesTheKindOfLock(t *testing.T) {
	for _, lock := range []sqllock.Lock{sqllock.MariaDB("n"), sqllock.MariaDBTry("n"), sqllock.Postgres(1), sqllock.PostgresTry(1)} {
		for what, v := range map[string]any{"lock": lock, "acquirer": sqllock.NewLock(newDatabase().pool(t), lock, time.Second)} {
			var out bytes.Buffer
			slog.New(slog.NewJSONHandler(&out, nil)).Info("a lock", "lock", v)
			var record struct{ Lock string }
			if err := json.Unmarshal(out.Bytes(), &record); err != nil || record.Lock != lock.String() || record.Lock == "" {
				t.Errorf("%s of %v is logged as %s", what, lock, out.String())
			}
		}
	}
}
