package instrument_test

import (
	"context"
	"fmt"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/redact"
)

func ExampleMiddleware_Elections() {
	m, err := instrument.New(instrument.WithRedactor(redact.Constant(redact.Template("tenant-{id}/orders"))))
	if err != nil {
		fmt.Println(err)
		return
	}
	orders := m.Elections(instrument.Backend("redis"))
	lock := instrument.AcquirerFunc(func(context.Context) (instrument.Lease, error) { return instrument.NewLease(nil), nil })
	for _, tenant := range []string{"7", "42"} { // names that come up at run time
		e := orders.Of("tenant-" + tenant + "/orders")
		err := e.Run(context.Background(), lock, func(context.Context, *instrument.Term) error {
			fmt.Println(e)
			return nil
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// tenant-*/orders
	// tenant-*/orders
}
