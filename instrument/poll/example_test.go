package poll_test

import (
	"context"
	"fmt"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/poll"
)

// An elector that can only be asked.
func Example() {
	m, err := instrument.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	scheduler := m.Election("scheduler", instrument.Hold(), instrument.HiddenRenewals())
	amLeader := func(context.Context) (bool, error) { return true, nil } // the elector's own question
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	err = poll.Poll(ctx, scheduler, 5*time.Second, func(ctx context.Context) poll.Outcome {
		leads, err := amLeader(ctx)
		switch {
		case err != nil:
			return poll.Unknown(err)
		case !leads:
			return poll.NotLeading(nil)
		default:
			return poll.Leading(instrument.Leadership{})
		}
	})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(scheduler, "leads:", scheduler.Leading())
	// Output: scheduler leads: true
}
