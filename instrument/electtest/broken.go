package electtest

import (
	"fmt"
	"strings"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Broken says which invariant of the core a set of series breaks; empty when
// all hold: attempts are won, lost or pending; terms that ended or are active
// were acquired; nothing but headroom is negative.
func Broken(r Series) string {
	attempts, outcomes, ended := r[Of(catalog.Attempts)], r[Of(catalog.Acquired)]+r[Of(catalog.Pending)], 0.
	for k, v := range r {
		switch {
		case strings.HasPrefix(k, catalog.NotAcquired.Name()):
			outcomes += v
		case strings.HasPrefix(k, catalog.TermsEnded.Name()):
			ended += v
		}
		if v < 0 && k != Of(catalog.LeaseHeadroom) {
			return fmt.Sprintf("%s is %v", k, v)
		}
	}
	switch {
	case attempts != outcomes:
		return fmt.Sprintf("attempts %v, outcomes and pending %v", attempts, outcomes)
	case r[Of(catalog.Acquired)] < ended+r[Of(catalog.Active)]:
		return fmt.Sprintf("acquired %v, ended %v, active %v", r[Of(catalog.Acquired)], ended, r[Of(catalog.Active)])
	case r[catalog.AcquireDuration.Count()] != attempts-r[Of(catalog.Pending)]:
		return fmt.Sprintf("waits %v of %v attempts", r[catalog.AcquireDuration.Count()], attempts)
	}
	return ""
}
