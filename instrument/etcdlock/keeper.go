package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/connectivity"

	"github.com/leaderscope/leaderscope/instrument"
)

// errGaveUp is the cause of a term whose lease was not renewed in time.
var errGaveUp = fmt.Errorf("etcdlock: lease was not renewed in time: %w", instrument.ErrGaveUp)

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

	mu    sync.Mutex
	end   time.Time
	sink  instrument.Sink
	cause error // why nothing is renewed any longer; nil while it is
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
		k.stopped(k.keep(ctx, id))
	}()
	return done, nil
}

// Expiry is the instant just before the last good request, plus the TTL.
func (k *keeper) Expiry() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.end
}

// length is that which the server granted with the lease.
func (k *keeper) length() time.Duration { return k.ttl }

// Watch passes renewals to s, and the reason why they stopped, until the term
// ends.
func (k *keeper) Watch(ctx context.Context, s instrument.Sink) {
	k.mu.Lock()
	k.sink = s
	cause := k.cause
	k.mu.Unlock()
	if cause != nil {
		s.Lost(cause)
	}
	<-ctx.Done()
}

// keep renews every third of the lease, and twice as often once a renewal has
// failed. It gives up a tenth of the lease early: others may lead from the
// lease end on, and the work needs a moment to stop. It returns why it ended:
// the end of ctx, that the server knows no such lease, or that it gave up.
func (k *keeper) keep(ctx context.Context, id clientv3.LeaseID) error {
	next := k.Expiry().Add(-2 * k.ttl / 3)
	for {
		last := k.Expiry().Add(-k.ttl / 10)
		if !sleepUntil(ctx, earlier(next, last)) {
			return ctx.Err()
		}
		sent := time.Now()
		if !sent.Before(last) {
			return errGaveUp
		}
		end, err := k.renew(ctx, id, last)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errGaveUp):
			return err
		case err != nil:
			k.report().RenewalFailedSince(sent, err)
			next = sent.Add(k.ttl / 6)
		default:
			k.report().Renewed(end)
			next = sent.Add(k.ttl / 3)
		}
		if errors.Is(err, rpctypes.ErrLeaseNotFound) {
			return err
		}
	}
}

// renew waits a third of the lease for an answer, but not beyond last. When
// half of that has passed it asks a second time: a member whose leader has
// just died sits on the first request, and would answer the second at once.
// The renewal was sent with the first; the lease counts from the one that was
// answered.
func (k *keeper) renew(ctx context.Context, id clientv3.LeaseID, last time.Time) (instrument.Renewal, error) {
	sent := time.Now()
	ctx, cancel := context.WithDeadline(ctx, earlier(sent.Add(k.ttl/3), last))
	defer cancel()
	answers := make(chan error, 2)
	ask := func() { answers <- k.ask(ctx, id, last) }
	go ask()
	again := time.After(k.ttl / 6)
	for open := 1; ; {
		select {
		case err := <-answers:
			open--
			if err == nil || open == 0 || errors.Is(err, rpctypes.ErrLeaseNotFound) {
				return instrument.Renewal{Sent: sent, Expiry: k.Expiry(), Granted: k.ttl}, err
			}
		case <-again:
			open++
			go ask()
		case <-ctx.Done():
			return instrument.Renewal{}, ctx.Err()
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
		return errGaveUp
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.end = sent.Add(time.Duration(resp.TTL) * time.Second)
	return nil
}

// report is where the term is told; nowhere before Watch.
func (k *keeper) report() instrument.Sink {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.sink
}

// stopped tells the term, now or once it watches. A term that was released
// before takes no notice.
func (k *keeper) stopped(cause error) {
	k.mu.Lock()
	k.cause = cause
	s := k.sink
	k.mu.Unlock()
	s.Lost(cause)
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
	select {
	case <-time.After(time.Until(t)):
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
