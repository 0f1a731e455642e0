//go:build integration

package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
	"github.com/leaderscope/leaderscope/test/electors"
)

// order tells a process of this test's own binary to be a replica.
type order struct{ Elector, Address, Lock, ID string }

const orderVariable = "LEADERSCOPE_REPLICA"

func TestMain(m *testing.M) {
	if text := os.Getenv(orderVariable); text != "" {
		var o order
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			panic(err)
		}
		if err := o.run(); err != nil {
			fmt.Fprintln(os.Stderr, "replica:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// reading is what a replica would export, read between At and Until.
type reading struct {
	At, Until time.Time
	Series    electtest.Series
	Broken    string
}

// wrong says what cannot be true of a reading; empty when nothing is. The
// reading is of At or later, and the clock that times are rounded by is the
// wall's.
func (r reading) wrong() string {
	if r.Broken != "" {
		return "invariant broken: " + r.Broken
	}
	end, known := r.Series[of(catalog.LeaseExpiry)]
	late := float64(r.At.UnixNano())/1e9 - end
	if known && r.Series[of(catalog.Active)] > 0 && late > 0.005 {
		return fmt.Sprintf("active %.3f s after the lease end", late)
	}
	return ""
}

func TestAReadingThatCannotBeTrueIsFound(t *testing.T) {
	at := time.Unix(1000, 0)
	held := func(active, end float64) electtest.Series {
		return electtest.Series{of(catalog.Active): active, of(catalog.LeaseExpiry): end}
	}
	for name, c := range map[string]struct {
		reading reading
		wrong   bool
	}{
		"within the lease":           {reading{At: at, Series: held(1, 1001)}, false},
		"not active after it":        {reading{At: at, Series: held(0, 999)}, false},
		"active after it":            {reading{At: at, Series: held(1, 999.9)}, true},
		"active without a known end": {reading{At: at, Series: electtest.Series{of(catalog.Active): 1}}, false},
		"books that do not balance":  {reading{At: at, Series: held(0, 1001), Broken: "attempts 2, outcomes 1"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if why := c.reading.wrong(); (why != "") != c.wrong {
				t.Errorf("said %q", why)
			}
		})
	}
}

// run is a replica: it leads when it can, answers scrapes, releases the lock
// at SIGTERM and prints what it would export then. It goes with the test.
func (o order) run() error {
	e, err := find(o.Elector)
	if err != nil {
		return err
	}
	m, err := instrument.New(instrument.WithRedactor(redact.Constant(redact.Exact("lock"))))
	if err != nil {
		return err
	}
	read := func() reading {
		r := reading{At: time.Now()}
		r.Series = electtest.Read(m, "lock")
		r.Until = time.Now()
		r.Broken = electtest.Broken(r.Series)
		return r
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	go func() {
		_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(read()) }))
	}()
	fmt.Println(l.Addr())

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	options := append([]instrument.ElectionOption{}, e.options...)
	if err := e.lead(ctx, electors.Replica{Address: o.Address, Lock: o.Lock, ID: o.ID}, m.Election("lock", options...)); err != nil {
		return err
	}
	last := read()
	for deadline := time.Now().Add(5 * time.Second); last.Series[of(catalog.Running)] > 0 && time.Now().Before(deadline); last = read() {
		time.Sleep(10 * time.Millisecond) // a body that is on its way out
	}
	return json.NewEncoder(os.Stdout).Encode(last)
}
