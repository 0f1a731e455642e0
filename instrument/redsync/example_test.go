package redsync_test

import (
	"context"
	"fmt"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/redsync"
)

// A job under a mutex of redsync. In a program the two packages have one name,
// so one of them is imported under another.
func Example() {
	m, err := instrument.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	report := m.Election("nightly-report", instrument.ExpectEvery(24*time.Hour), instrument.Backend("redis"))
	mu := &mutex{unlocks: answer{ok: true}} // of a program: rs.NewMutex("nightly-report")
	err = report.Run(context.Background(), redsync.NewTry(mu), func(_ context.Context, term *instrument.Term) error {
		fmt.Println(term, "runs here")
		return nil
	})
	if err != nil {
		fmt.Println("not this time:", err)
	}
	// Output: nightly-report runs here
}
