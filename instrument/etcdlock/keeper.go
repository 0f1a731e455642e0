package etcdlock

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/connectivity"

	"github.com/leaderscope/leaderscope/instrument"
)

// errLapsed is the cause of a term whose lease was not renewed in time.
var errLapsed = errors.New("etcdlock: lease was not renewed in time")

// redialEvery is the time between dials while a renewal is due.
const redialEvery = 100 * time.Millisecond

// keeper is the client's Lease with a KeepAlive of its own: it renews with
// requests of its own, so that the lease end counts from before the request, a
// renewal that fails is seen, and a lease that ran out on this clock stays
// lost. The client's own KeepAlive shows answers only; an answer that waited
// in a buffer while the process was suspended would bring a dead lease back.
type keeper struct {
	clientv3.Lease
	client *clientv3.Client
	ttl    time.Duration

	mu   sync.Mutex
	end  time.Time
	sink instrument.Sink
}

func newKeeper(c *clientv3.Client, asked time.Time, ttl time.Duration) *keeper {
	return &keeper{Lease: c.Lease, client: c, ttl: ttl, end: asked.Add(ttl)}
}

// KeepAlive renews id until ctx ends or the lease is gone, then closes the
// channel, which ends the session. It sends nothing: a session only drains it.
func (k *keeper) KeepAlive(ctx context.Context, id clientv3.LeaseID) (<-chan *clientv3.LeaseKeepAliveResponse, error) {
	done := make(chan *clientv3.LeaseKeepAliveResponse)
	go func() {
		defer close(done)
		if cause := k.keep(ctx, id); cause != nil {
			k.tell(func(s instrument.Sink) { s.Lost(cause) })
		}
	}()
	return done, nil
}

// Expiry is the instant just before the last good request, plus the TTL.
func (k *keeper) Expiry() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.end
}

// Watch passes renewals to s until the term ends.
func (k *keeper) Watch(ctx context.Context, s instrument.Sink) {
	k.attach(s)
	defer k.attach(nil)
	<-ctx.Done()
}

// keep renews every third of the lease, and twice as often once a renewal has
// failed. It gives up a tenth of the lease early: others may lead from the
// lease end on, and the work needs a moment to stop. It returns why the lease
// is gone; nil when ctx ended.
func (k *keeper) keep(ctx context.Context, id clientv3.LeaseID) error {
	next := k.Expiry().Add(-2 * k.ttl / 3)
	for {
		last := k.Expiry().Add(-k.ttl / 10)
		if !sleepUntil(ctx, earlier(next, last)) {
			return nil
		}
		sent := time.Now()
		if !sent.Before(last) {
			return errLapsed
		}
		err := k.renew(ctx, id, last)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, rpctypes.ErrLeaseNotFound), errors.Is(err, errLapsed):
			return err
		case err != nil:
			k.tell(func(s instrument.Sink) { s.RenewalFailed(err) })
			next = sent.Add(k.ttl / 6)
		default:
			next = sent.Add(k.ttl / 3)
		}
	}
}

// renew waits a third of the lease for an answer, but not beyond last. When
// half of that has passed it asks a second time: a member whose leader has
// just died sits on the first request, and would answer the second at once.
func (k *keeper) renew(ctx context.Context, id clientv3.LeaseID, last time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, earlier(time.Now().Add(k.ttl/3), last))
	defer cancel()
	answers := make(chan error, 2)
	ask := func() { answers <- k.ask(ctx, id, last) }
	go ask()
	again := time.NewTimer(k.ttl / 6)
	defer again.Stop()
	for open := 1; ; {
		select {
		case err := <-answers:
			open--
			if err == nil {
				end := k.Expiry()
				k.tell(func(s instrument.Sink) { s.Renewed(end) })
			}
			if err == nil || open == 0 || errors.Is(err, rpctypes.ErrLeaseNotFound) {
				return err
			}
		case <-again.C:
			open++
			go ask()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ask sends one request. The lease counts from before it.
func (k *keeper) ask(ctx context.Context, id clientv3.LeaseID, last time.Time) error {
	if err := connected(ctx, k.client); err != nil {
		return err
	}
	sent := time.Now()
	resp, err := k.KeepAliveOnce(ctx, id)
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case !time.Now().Before(last):
		return errLapsed
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.end = sent.Add(time.Duration(resp.TTL) * time.Second)
	return nil
}

func (k *keeper) attach(s instrument.Sink) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sink = s
}

func (k *keeper) tell(f func(instrument.Sink)) {
	k.mu.Lock()
	s := k.sink
	k.mu.Unlock()
	if s != nil {
		f(s)
	}
}

// connected waits for a connection. Without it KeepAliveOnce would fail and
// try again in a tight loop for as long as the backend is away.
func connected(ctx context.Context, c *clientv3.Client) error {
	conn := c.ActiveConnection()
	if conn == nil { // a client inside the server's own process
		return nil
	}
	for {
		state := conn.GetState()
		if state == connectivity.Ready {
			return nil
		}
		switch state {
		case connectivity.Idle:
			conn.Connect()
		case connectivity.TransientFailure:
			// gRPC waits a second and more before it dials again, and a lease
			// would be over before a short cut was.
			if !sleepUntil(ctx, time.Now().Add(redialEvery)) {
				return ctx.Err()
			}
			conn.ResetConnectBackoff()
			continue // the state may stay as it is until a dial has succeeded
		}
		if !conn.WaitForStateChange(ctx, state) {
			return ctx.Err()
		}
	}
}

func sleepUntil(ctx context.Context, t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
