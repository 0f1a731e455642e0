package instrument_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// elector stands for the elector that a service has already: here one in
// memory, which renews its lease of 15 s by itself.
func elector(lock string) instrument.Acquirer {
	return electtest.NewMemory().Acquirer(lock, 15*time.Second, true)
}

// show prints some series of a lock, as an exporter would read them.
func show(m *instrument.Middleware, lock string, series ...string) {
	all := electtest.Read(m, lock)
	for _, name := range series {
		fmt.Println(name, all[name])
	}
}

// A service that makes its leader election observable: the wrapped elector
// behaves as before.
func Example() {
	m, err := instrument.New()
	if err != nil {
		panic(err)
	}
	defer m.Close()
	reconciler := m.Election("reconciler", instrument.Hold(), instrument.LeaseDuration(15*time.Second))

	err = reconciler.Run(context.Background(), elector("reconciler"), func(ctx context.Context, _ *instrument.Term) error {
		show(m, "reconciler", "leader_active", "leader_running")
		return nil // the work; its context ends when the term does
	})
	fmt.Println(err)
	show(m, "reconciler", "leader_active", `leader_terms_ended_total{cause="released"}`)
	// Output:
	// leader_active 1
	// leader_running 1
	// <nil>
	// leader_active 0
	// leader_terms_ended_total{cause="released"} 1
}

// Names that come from data are hashed with a key that all replicas share;
// constants of the program may stay readable.
func ExampleNew() {
	key := []byte(os.Getenv("LOCK_LABEL_KEY"))
	if len(key) == 0 {
		key = []byte("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
	}
	m, err := instrument.New(instrument.WithRedactor(redact.Hash(key, "k1", redact.Literals())))
	if err != nil {
		panic(err) // a key that is too short, for example
	}
	defer m.Close()
	fmt.Println(m.Election("reconciler").Label())
	fmt.Println(len(m.Named("tenant-42/orders").Label()))
	// Output:
	// reconciler
	// 19
}

// Run is for a body that runs only while the lock is held.
func ExampleElection_Run() {
	m, err := instrument.New()
	if err != nil {
		panic(err)
	}
	nightly := m.Election("nightly-report", instrument.ExpectEvery(24*time.Hour), instrument.LeaseDuration(15*time.Second))
	err = nightly.Run(context.Background(), elector("nightly-report"), func(ctx context.Context, term *instrument.Term) error {
		token, ok := term.FencingToken() // for the store, which refuses older ones
		fmt.Println("token", token, ok)
		return errors.New("disk full")
	})
	fmt.Println(err)
	show(m, "nightly-report", `leader_execution_failures_total{cause="error"}`, "leader_acquired_total")
	// Output:
	// token 1 true
	// disk full
	// leader_execution_failures_total{cause="error"} 1
	// leader_acquired_total 1
}

// Acquire and Work are for programs whose structure does not fit into one
// body: the lock is taken in one place, used in another and released in a
// third.
func ExampleElection_Acquire() {
	m, err := instrument.New()
	if err != nil {
		panic(err)
	}
	indexer := m.Election("indexer", instrument.LeaseDuration(15*time.Second))
	ctx := context.Background()
	term, err := indexer.Acquire(ctx, elector("indexer"))
	if err != nil {
		return // contended, or the backend failed: the series say which
	}
	defer term.Release(ctx)

	err = term.Work(ctx, func(ctx context.Context, _ *instrument.Term) error {
		if end, ok := indexer.Expiry(); !indexer.Leading() || ok && time.Until(end) < time.Second {
			return context.Cause(ctx) // too close to the end for another write
		}
		show(m, "indexer", "leader_active", "leader_running")
		return nil
	})
	fmt.Println(err)
	// Output:
	// leader_active 1
	// leader_running 1
	// <nil>
}

// Begin is for electors that answer through callbacks.
func ExampleElection_Begin() {
	m, err := instrument.New()
	if err != nil {
		panic(err)
	}
	controller := m.Election("controller", instrument.Hold(), instrument.LeaseDuration(15*time.Second))

	attempt := controller.Begin(context.Background()) // before the campaign
	var term *instrument.Term
	onStartedLeading := func() { term = attempt.Won(instrument.NewLease(nil, instrument.RenewalsReported())) }
	onRenewed := func(sent time.Time) { term.Sink().Renewed(instrument.Renewal{Sent: sent}) }
	onStoppedLeading := func() { term.Sink().Lost(instrument.ErrGaveUp) }

	onStartedLeading()
	onRenewed(time.Now())
	show(m, "controller", "leader_active", `leader_renewals_total{result="ok"}`)
	onStoppedLeading()
	show(m, "controller", "leader_active", `leader_terms_ended_total{cause="gave_up"}`)
	// Output:
	// leader_active 1
	// leader_renewals_total{result="ok"} 1
	// leader_active 0
	// leader_terms_ended_total{cause="gave_up"} 1
}

// Renew is for locks that their holder extends.
func ExampleTerm_Renew() {
	m, err := instrument.New()
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	lock := instrument.AcquirerFunc(func(context.Context) (instrument.Lease, error) {
		extend := func(context.Context) error { return nil } // of the lock library
		return instrument.NewLease(nil, instrument.RenewWith(extend)), nil
	})
	export := m.Election("export", instrument.LeaseDuration(30*time.Second))
	term, err := export.Acquire(ctx, lock)
	if err != nil {
		panic(err)
	}
	if err := term.Renew(ctx); err != nil {
		fmt.Println("not renewed:", err) // ErrContended and ErrSessionLost end the term
	}
	show(m, "export", `leader_renewals_total{result="ok"}`, "leader_lease_duration_seconds")
	// Output:
	// leader_renewals_total{result="ok"} 1
	// leader_lease_duration_seconds 30
}

// The observe calls are for electors that cannot be wrapped, such as a Raft
// library: they report a level, as often as is convenient.
func ExampleElection_ObserveLeading() {
	m, err := instrument.New()
	if err != nil {
		panic(err)
	}
	shard := m.Election("shard", instrument.Hold(), instrument.HiddenRenewals())
	for range 3 {
		shard.ObserveLeading(instrument.Leadership{Token: 7, Fenced: true})
	}
	shard.ObserveUnknown(errors.New("no answer")) // the last state stays
	show(m, "shard", "leader_active", "leader_acquired_total", "leader_fencing_token")
	shard.ObserveNotLeading(nil)
	show(m, "shard", "leader_active")
	// Output:
	// leader_active 1
	// leader_acquired_total 1
	// leader_fencing_token 7
	// leader_active 0
}

// A handle for each tenant, looked up by name at each use.
func ExampleMiddleware_Named() {
	m, err := instrument.New(instrument.WithRedactor(redact.Constant(redact.Template("tenant-{id}/orders"))))
	if err != nil {
		panic(err)
	}
	for _, tenant := range []string{"tenant-1/orders", "tenant-2/orders"} {
		lock := m.Named(tenant, instrument.LeaseDuration(15*time.Second))
		_ = lock.Run(context.Background(), elector(tenant), func(context.Context, *instrument.Term) error { return nil })
	}
	show(m, "tenant-*/orders", "leader_acquired_total")
	// Output:
	// leader_acquired_total 2
}

// Collect is how exporters read the series.
func ExampleMiddleware_Collect() {
	m, err := instrument.New()
	if err != nil {
		panic(err)
	}
	m.Election("reconciler")
	m.Collect(func(s *instrument.Sample) {
		if s.Metric == catalog.Active {
			fmt.Println(s.Metric.Name(), s.Lock, s.Value)
		}
	})
	// Output:
	// leader_active reconciler 0
}

// What this process knows of each lock now, and how its last terms ended.
func ExampleMiddleware_Inspect() {
	m, err := instrument.New()
	if err != nil {
		panic(err)
	}
	m.KeepTerms(5)
	obtain := instrument.AcquirerFunc(func(context.Context) (instrument.Lease, error) {
		return instrument.NewLease(func(context.Context) error { return nil }), nil
	})
	work := func(context.Context, *instrument.Term) error { return nil }
	if err := m.Election("nightly-report").Run(context.Background(), obtain, work); err != nil {
		panic(err)
	}
	m.Inspect(func(s *instrument.Snapshot) {
		fmt.Println(s.Label, "active:", s.Active, "last term:", s.Ended[0].Cause)
	})
	// Output:
	// nightly-report active: 0 last term: released
}
