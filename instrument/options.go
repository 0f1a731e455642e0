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
// and so are values that make no sense: a length, an interval or a number of
// leaders below one, a length beyond a hundred years, no classifier. A call
// with options of that kind alone is one without options.
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

// Hold says that a win is kept while the process lives: campaign and hold.
// Without it a lock is taken for one run and given back.
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

// LeaseDuration declares the length of the lease. Where the lease does not
// know its own end, the end is the start of the request that won or renewed
// it plus this length; with Hold only if its renewals can be seen, since a
// held leadership is renewed by something.
//
// An acquirer that waits for its turn should return a lease that is an
// Expirer: the start of the request that won is known to it alone. An attempt
// that took longer than the lease has shown that it waited, and the end is
// unknown until a renewal is seen.
func LeaseDuration(d time.Duration) ElectionOption {
	if d <= 0 || d > lock.Horizon {
		return nil
	}
	return func(s *settings) { s.Lease = d }
}

// HiddenRenewals says that the library renews the lease where it cannot be
// seen: renewal series are left out, and the end of the lease is unknown. A
// lease can say so itself, by RenewalsHidden.
func HiddenRenewals() ElectionOption { return func(s *settings) { s.Hidden = true } }

// KeepUntilExpiry says that the lock is left to its lease on purpose, as
// schedulers do whose clocks differ: Run does not give it back, the term ends
// with the lease, and that is no overrun unless a body ran longer. While no
// body runs, headroom is absent. The same holds of a leadership with Hold.
func KeepUntilExpiry() ElectionOption {
	return func(s *settings) { s.Params.KeepUntilExpiry = true }
}

// StopAtLeaseEnd ends the contexts of bodies, and the term's, when the lease
// ends, with the cause ErrLeaseEnded: also when no library told of a loss.
// Where the end is unknown it does nothing. The timer is the system's, and a
// suspended process notices when it continues.
func StopAtLeaseEnd() ElectionOption { return func(s *settings) { s.stopAtLeaseEnd = true } }

// WatchOnly says that this process looks at the lock in its backend, or guards
// a store with its tokens, and never campaigns for it: only the series of
// ObserveBackend and of fencing checks exist for it, also under a label that it
// shares with others. A leader_active of 0 from a process that cannot lead would
// look like a missing leader.
func WatchOnly() ElectionOption { return func(s *settings) { s.WatchOnly = true } }

// Backend names the backend, such as etcd, on leader_elector_info.
func Backend(name string) ElectionOption {
	return func(s *settings) { s.Use.Backend = redact.Valid(name) }
}

// Family names the kind of lock on leader_elector_info, readable where the
// label is a hash. It must not carry what the label hides.
func Family(name string) ElectionOption {
	return func(s *settings) { s.Use.Family = redact.Valid(name) }
}

// MaxLeaders is the number of leaders that the elector allows at once; 1 if
// not set.
func MaxLeaders(n int) ElectionOption {
	if n < 1 {
		return nil
	}
	return func(s *settings) { s.Params.MaxLeaders = n }
}

// Classify adds classifiers of the library's errors; the first that has an
// opinion decides. Nil classifiers are ignored.
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
