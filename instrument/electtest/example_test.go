package electtest_test

import (
	"context"
	"fmt"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// A test of a service: the elector follows a script, and the series are read
// without an exporter.
func ExampleRead() {
	m, err := instrument.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	nightly := m.Election("nightly-report")
	elector := electtest.NewElector(
		electtest.Step{Err: instrument.ErrContended}, // the first attempt
		electtest.Step{Lease: instrument.NewLease(nil)},
	)
	for range 2 {
		_ = nightly.Run(context.Background(), elector, func(context.Context, *instrument.Term) error { return nil })
	}
	series := electtest.Read(m, "nightly-report")
	fmt.Println("attempts:", series[electtest.Of(catalog.Attempts)])
	fmt.Println("acquired:", series[electtest.Of(catalog.Acquired)])
	// Output:
	// attempts: 2
	// acquired: 1
}
