package instrument

import "reflect"

// capability is a set of what a lease can do.
type capability uint8

const (
	canExpire capability = 1 << iota
	canGrant
	canBeLost
	canFence
	canRenew
	canWatch
	// firmlyRenews: the adapter said that the holder renews on demand. Of a
	// type that has the method the answer is not known before it is called.
	firmlyRenews
	// hidesRenewals: the library renews the lease without reporting it.
	hidesRenewals
)

// leaseKind is what one type of lease can do. A handle mostly meets one type,
// and comparing types is cheaper than asking for six interfaces.
type leaseKind struct {
	of  reflect.Type
	can capability
}

// capabilitiesOf says what a lease can do. Of the package's own lease, which
// carries all methods, those count that were given.
func (e *Election) capabilitiesOf(l Lease) capability {
	if f, ok := l.(*funcLease); ok {
		return f.can()
	}
	t := reflect.TypeOf(l)
	if known := e.kind.Load(); known != nil && known.of == t {
		return known.can
	}
	can := methodsOf(l)
	e.kind.Store(&leaseKind{t, can})
	return can
}

func methodsOf(l Lease) (can capability) {
	if _, ok := l.(Expirer); ok {
		can |= canExpire
	}
	if _, ok := l.(Granter); ok {
		can |= canGrant
	}
	if _, ok := l.(LossNotifier); ok {
		can |= canBeLost
	}
	if _, ok := l.(Fencer); ok {
		can |= canFence
	}
	if _, ok := l.(Renewer); ok {
		can |= canRenew
	}
	if _, ok := l.(Watcher); ok {
		can |= canWatch
	}
	return can
}

func (l *funcLease) can() (can capability) {
	if l.expiry != nil {
		can |= canExpire
	}
	if l.granted != nil {
		can |= canGrant
	}
	if l.lost != nil {
		can |= canBeLost
	}
	if l.hasToken {
		can |= canFence
	}
	if l.renew != nil {
		can |= canRenew | firmlyRenews
	}
	if l.reported {
		can |= firmlyRenews
	}
	if l.watch != nil {
		can |= canWatch
	}
	if l.hidden {
		can |= hidesRenewals
	}
	return can
}
