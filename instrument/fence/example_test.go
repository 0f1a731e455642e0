package fence_test

import (
	"context"
	"fmt"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/fence"
)

// A service that owns a ledger, and refuses the late write of a leader that
// another one has replaced.
func Example() {
	m, err := instrument.New()
	if err != nil {
		panic(err)
	}
	defer m.Close()
	guard := fence.New(m.Election("ledger", instrument.WatchOnly()))
	var ledger []string
	appendEntry := func(ctx context.Context, token uint64, entry string) error {
		return guard.Do(ctx, token, func(context.Context) error {
			ledger = append(ledger, entry)
			return nil
		})
	}

	ctx := context.Background()
	fmt.Println(appendEntry(ctx, 3, "of the first leader"))
	fmt.Println(appendEntry(ctx, 6, "of the second"))
	fmt.Println(appendEntry(ctx, 3, "late, of the first"))
	fmt.Println(ledger)
	// Output:
	// <nil>
	// <nil>
	// leaderscope: fencing token 3 is stale, the store has seen 6; stop the work of this term and campaign again
	// [of the first leader of the second]
}
