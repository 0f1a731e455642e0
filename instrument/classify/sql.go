package classify

import (
	"errors"
	"strings"

	"github.com/leaderscope/leaderscope/instrument"
)

// SQLState classifies errors of PostgreSQL by their code, for drivers whose
// error has a method SQLState, as pgx and lib/pq have, and for locks that are
// tried once: 55P03 says that the lock was held for longer than lock_timeout,
// or at once with NOWAIT. A connection that broke or was refused and a server
// that is short of resources, shutting down or starting are a failed backend.
//
// 57014, a cancelled query, is left to the caller's context: a lock that is
// tried does not wait, so statement_timeout says nothing of who holds it.
func SQLState() instrument.Classifier { return instrument.ClassifierFunc(sqlState) }

// SQLStateWaiting is SQLState for errors of a statement that waits for its
// lock: 57014 then says that another held the lock for longer than
// statement_timeout, unless the caller's context has ended.
//
// It is for attempts alone. The same code from a statement that renews or
// releases says nothing of the lock, so do not give this classifier to an
// election that sees such errors.
func SQLStateWaiting() instrument.Classifier {
	return First(instrument.ClassifierFunc(func(err error) (instrument.Reason, bool) {
		return instrument.ContendedUnlessDone, sqlCode(err) == queryCanceled
	}), SQLState())
}

// Codes from appendix A of the PostgreSQL manual.
const (
	lockNotAvailable = "55P03"
	queryCanceled    = "57014"
)

// failedClasses are the beginnings of codes of a backend that failed.
var failedClasses = []string{
	"08",  // connection exception
	"53",  // insufficient resources, such as too many connections
	"57P", // shutdown, crash, cannot connect now
	"58",  // system error
	"XX",  // internal error
}

func sqlState(err error) (instrument.Reason, bool) {
	code := sqlCode(err)
	if code == lockNotAvailable {
		return instrument.Contended, true
	}
	for _, class := range failedClasses {
		if strings.HasPrefix(code, class) {
			return instrument.BackendError, true
		}
	}
	return 0, false
}

func sqlCode(err error) string {
	coded, ok := errors.AsType[interface {
		error
		SQLState() string
	}](err)
	if !ok {
		return ""
	}
	return coded.SQLState()
}
