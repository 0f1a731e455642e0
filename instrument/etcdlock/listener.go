package etcdlock

import (
	"context"
	"time"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/leaderscope/leaderscope/instrument"
)

// listener hears the renewals of a session that somebody else keeps.
type listener struct{ session *concurrency.Session }

// Watch passes renewals to s until the term or the session ends. The second
// subscription shares the client's one stream, and it hangs on the session's
// context: with any other it would keep an orphaned lease alive.
func (l listener) Watch(ctx context.Context, s instrument.Sink) {
	session, cancel := context.WithCancel(l.session.Ctx())
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()

	renewals, err := l.session.Client().KeepAlive(session, l.session.Lease())
	if err != nil {
		s.RenewalFailed(err)
		return
	}
	var end time.Time
	for resp := range renewals {
		now := time.Now()
		if !end.IsZero() && !now.Before(end) {
			// Answered in time, perhaps, and read after a suspension.
			s.Lost(errLapsed)
			return
		}
		end = now.Add(time.Duration(resp.TTL) * time.Second)
		s.Renewed(end)
	}
}
