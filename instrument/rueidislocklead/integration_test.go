//go:build integration

package rueidislocklead

import (
	"context"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/redis/rueidis/rueidislock"
)

// real is a server, with the client-side cache and without.
func real(t *testing.T, run func(*testing.T, server)) {
	t.Helper()
	address := os.Getenv("LEADERSCOPE_REDIS")
	if address == "" {
		t.Fatal("LEADERSCOPE_REDIS is not set; it names a Redis server, such as 127.0.0.1:6379")
	}
	t.Run("with the client-side cache", func(t *testing.T) { run(t, server{address, true}) })
	t.Run("without the client-side cache", func(t *testing.T) { run(t, server{address, false}) })
}

func TestConformanceOfAServer(t *testing.T) {
	real(t, func(t *testing.T, v server) { v.conform(t) })
}

func TestAttacksOnAServer(t *testing.T) {
	real(t, func(t *testing.T, v server) { v.attack(t) })
}

// The README says why NoLoopTracking must be set: when this fails, it need not
// be any longer.
func TestAHeldLockIsRenewedWithoutAPauseUnlessToldNotTo(t *testing.T) {
	real(t, func(t *testing.T, v server) {
		const held = 4 * every
		quiet, loud := renewals(t, v, true, held), renewals(t, v, false, held)
		t.Logf("%v: %d renewals with NoLoopTracking, %d without", held, quiet, loud)
		if most := int(held/every) + 1; quiet > most {
			t.Errorf("%d renewals with NoLoopTracking, want at most %d", quiet, most)
		}
		if v.caches && loud < 10*quiet {
			t.Errorf("%d renewals without NoLoopTracking, %d with it", loud, quiet)
		}
	})
}

// renewals counts what a held lock asks of the server in so long.
func renewals(t *testing.T, v server, quiet bool, held time.Duration) int {
	t.Helper()
	l, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: v.options(v.address),
		KeyMajority:  1, KeyValidity: valid, ExtendInterval: every, TryNextAfter: time.Second, NoLoopTracking: quiet,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, release, err := l.WithContext(t.Context(), "renewals")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	before := extended(t, l)
	time.Sleep(held)
	return extended(t, l) - before
}

func extended(t *testing.T, l rueidislock.Locker) int {
	t.Helper()
	c := l.Client()
	text, err := c.Do(context.Background(), c.B().Info().Section("commandstats").Build()).ToString()
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`cmdstat_pexpireat:calls=(\d+)`).FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
