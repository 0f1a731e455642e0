package campaigner_test

import (
	"context"
	"fmt"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/campaigner"
)

// An elector that campaigns, resigns and can be asked, as bluetape-go's.
func Example() {
	m, err := instrument.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	aggregator := m.Election("aggregator", instrument.Hold(), instrument.HiddenRenewals())
	elector := campaigner.New(aggregator, &candidate{}, time.Second) // of a program: its own elector
	ctx := context.Background()
	if err := elector.Campaign(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(aggregator, "leads:", aggregator.Leading())
	if err := elector.Resign(ctx); err != nil {
		fmt.Println(err)
	}
	fmt.Println(aggregator, "leads:", aggregator.Leading())
	// Output:
	// aggregator leads: true
	// aggregator leads: false
}
