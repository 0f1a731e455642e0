package instrument

import (
	"context"
	"errors"
	"time"
)

// LeaseOption adds a capability to NewLease. Nil options are ignored.
type LeaseOption func(*funcLease)

// Token sets the fencing token.
func Token(token uint64) LeaseOption {
	return func(l *funcLease) { l.token, l.hasToken = token, true }
}

// LostOn sets the channel that is closed when the lock is lost.
func LostOn(lost <-chan struct{}) LeaseOption { return func(l *funcLease) { l.lost = lost } }

// ExpiryFrom sets the source of the lease end; see Expirer.
func ExpiryFrom(expiry func() time.Time) LeaseOption { return func(l *funcLease) { l.expiry = expiry } }

// GrantedFrom sets the source of the length of the lease; see Granter.
func GrantedFrom(length func() time.Duration) LeaseOption {
	return func(l *funcLease) { l.granted = length }
}

// RenewWith sets the function that extends the lease on demand. It declares that
// the holder renews the lease only through Term.Renew.
func RenewWith(renew func(context.Context) error) LeaseOption {
	return func(l *funcLease) { l.renew = renew }
}

// WatchWith sets the function that reports what the library does by itself;
// see Watcher.
func WatchWith(watch func(context.Context, Sink)) LeaseOption {
	return func(l *funcLease) { l.watch = watch }
}

// RenewalsReported declares that every renewal is reported through Term.Sink, for
// adapters of electors with callbacks.
func RenewalsReported() LeaseOption { return func(l *funcLease) { l.reported = true } }

// RenewalsHidden declares that the library renews the lease without reporting it:
// the end of the lease is unknown, and renewal series are left out after the
// first such lease. HiddenRenewals declares the same for an election from its
// start.
func RenewalsHidden() LeaseOption { return func(l *funcLease) { l.hidden = true } }

// NewLease builds a Lease from functions, for adapters. Capabilities without an
// option return "unknown". A nil release does nothing and succeeds.
func NewLease(release func(context.Context) error, opts ...LeaseOption) Lease {
	l := &funcLease{release: release}
	for _, o := range opts {
		if o != nil {
			o(l)
		}
	}
	return l
}

type funcLease struct {
	release  func(context.Context) error
	expiry   func() time.Time
	granted  func() time.Duration
	renew    func(context.Context) error
	watch    func(context.Context, Sink)
	lost     <-chan struct{}
	token    uint64
	hasToken bool
	reported bool
	hidden   bool
}

func (l *funcLease) Release(ctx context.Context) error {
	if l.release == nil {
		return nil
	}
	return l.release(ctx)
}

func (l *funcLease) Expiry() time.Time {
	if l.expiry == nil {
		return time.Time{}
	}
	return l.expiry()
}

func (l *funcLease) LeaseDuration() time.Duration {
	if l.granted == nil {
		return 0
	}
	return l.granted()
}

func (l *funcLease) Renew(ctx context.Context) error {
	if l.renew == nil {
		return errors.ErrUnsupported
	}
	return l.renew(ctx)
}

func (l *funcLease) Watch(ctx context.Context, s Sink) {
	if l.watch != nil {
		l.watch(ctx, s)
	}
}

func (l *funcLease) Lost() <-chan struct{} { return l.lost }

func (l *funcLease) FencingToken() (uint64, bool) { return l.token, l.hasToken }
