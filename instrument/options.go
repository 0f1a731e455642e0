package instrument

import (
	"reflect"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/internal/lock"
	"github.com/leaderscope/leaderscope/instrument/internal/registry"
	"github.com/leaderscope/leaderscope/redact"
)

// ElectionOption configures the handle of one lock. Nil options are ignored,
// and so are invalid values: a length, an interval or a number of leaders below
// one, a length of more than a hundred years, no classifier. A call with only
// such options is treated as a call without options.
type ElectionOption func(*settings)

// settings are what the options of a handle say. Handles with the same share
// them; they do not change.
type settings struct {
	registry.Declared
	stopAtLeaseEnd bool
	classifiers    []Classifier
}

func newSettings(family string, opts []ElectionOption) *settings {
	s := &settings{}
	s.Family, s.MaxLeaders = family, 1
	for _, o := range opts {
		if o != nil {
			o(s)
		}
	}
	return s
}

// same reports whether two say the same. Classifiers that cannot be compared
// are not the same.
func (s *settings) same(other *settings) bool {
	return s.Declared == other.Declared && s.stopAtLeaseEnd == other.stopAtLeaseEnd &&
		s.classifiers == nil && other.classifiers == nil
}

// contradicts reports whether the options of a later call say something else.
// Of classifiers only their number and comparable ones are held together, and
// a family or backend only where both calls name one.
func (s *settings) contradicts(later *settings) bool {
	a, b := s.Declared, later.Declared
	for _, word := range []struct{ first, later *string }{{&a.Family, &b.Family}, {&a.Backend, &b.Backend}} {
		if *word.later == "" || *word.first == redact.Overflow {
			*word.later = *word.first
		}
	}
	return a != b || s.stopAtLeaseEnd != later.stopAtLeaseEnd || !sameClassifiers(s.classifiers, later.classifiers)
}

func sameClassifiers(a, b []Classifier) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if reflect.TypeOf(a[i]) != reflect.TypeOf(b[i]) {
			return false
		}
		if reflect.ValueOf(a[i]).Comparable() && a[i] != b[i] {
			return false
		}
	}
	return true
}

// Hold declares that the leader keeps the lock while the process lives: it
// campaigns and holds. Without Hold a lock is acquired for one run and released.
func Hold() ElectionOption {
	return func(s *settings) { s.Mode, s.Params.Hold = catalog.ModeHold, true }
}

// ExpectEvery declares the time between acquisitions of a periodic job.
func ExpectEvery(d time.Duration) ElectionOption {
	if d <= 0 {
		return nil
	}
	return func(s *settings) { s.Every = d }
}

// LeaseDuration declares the length of the lease. If the lease does not
// report its own end, the end is the start of the request that won or renewed
// it plus this length; with Hold only if its renewals are observable, since a
// held leadership is always renewed.
//
// An acquirer that waits should return a lease that is an Expirer: only the
// acquirer knows the start of the winning request. If an attempt took longer than
// the lease, it must have waited, and the end is unknown until a renewal is
// observed.
func LeaseDuration(d time.Duration) ElectionOption {
	if d <= 0 || d > lock.Horizon {
		return nil
	}
	return func(s *settings) { s.Lease = d }
}

// HiddenRenewals declares that the library renews the lease without reporting it:
// renewal series are left out, and the end of the lease is unknown. A lease can
// declare this itself, with RenewalsHidden.
func HiddenRenewals() ElectionOption { return func(s *settings) { s.Hidden = true } }

// KeepUntilExpiry declares that the lock is deliberately kept until its lease
// ends, as schedulers with differing clocks do: Run does not release it, the term
// ends with the lease, and this is not an overrun unless a body ran longer. While
// no body runs, headroom is absent. The same applies to a leadership with Hold.
func KeepUntilExpiry() ElectionOption {
	return func(s *settings) { s.Params.KeepUntilExpiry = true }
}

// StopAtLeaseEnd ends the contexts of the term and its bodies at the lease end,
// with the cause ErrLeaseEnded, even if the library reported no loss. If the end
// is unknown it does nothing. It uses a system timer: a suspended process notices
// the lease end when it is continued.
func StopAtLeaseEnd() ElectionOption { return func(s *settings) { s.stopAtLeaseEnd = true } }

// WatchOnly declares that this process observes the lock in its backend, or
// guards a store with its tokens, and never campaigns for it: it has only the
// series of ObserveBackend and of fencing checks, also under a shared label. A
// leader_active of 0 from a process that cannot lead would suggest a missing
// leader.
func WatchOnly() ElectionOption { return func(s *settings) { s.WatchOnly = true } }

// Backend names the backend, such as etcd, on leader_elector_info.
func Backend(name string) ElectionOption {
	return func(s *settings) { s.Use.Backend = redact.Valid(name) }
}

// Family names the kind of lock on leader_elector_info, so that it is readable
// if the label is a hash. It must not contain anything that the label hides.
func Family(name string) ElectionOption {
	return func(s *settings) { s.Use.Family = redact.Valid(name) }
}

// MaxLeaders is the number of leaders that the elector allows at the same time; 1
// by default.
func MaxLeaders(n int) ElectionOption {
	if n < 1 {
		return nil
	}
	return func(s *settings) { s.Params.MaxLeaders = n }
}

// Classify adds classifiers of the library's errors; the first that returns ok
// decides. Nil classifiers are ignored.
func Classify(c ...Classifier) ElectionOption {
	var all []Classifier
	for _, classifier := range c {
		if classifier != nil {
			all = append(all, classifier)
		}
	}
	if all == nil {
		return nil
	}
	return func(s *settings) { s.classifiers = append(s.classifiers, all...) }
}
