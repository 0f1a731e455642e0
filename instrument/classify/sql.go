package classify

import (
	"errors"
	"strings"

	"github.com/leaderscope/leaderscope/instrument"
)

// SQLState classifies errors of PostgreSQL by their code, for drivers whose
// error has a method SQLState, such as pgx and lib/pq, and for locks that are
// tried once. 55P03 means that the lock was held for longer than lock_timeout,
// or at all with NOWAIT. A broken or refused connection, and a server that is
// short of resources, shutting down or starting, are a failed backend.
//
// 57014, a cancelled query, is classified by the caller's context: an attempt
// that does not wait learns nothing about the holder from statement_timeout.
func SQLState() instrument.Classifier { return instrument.ClassifierFunc(sqlState) }

// SQLStateWaiting is SQLState for errors of a statement that waits for its
// lock: 57014 then means that another holder kept the lock for longer than
// statement_timeout, unless the caller's context has ended.
//
// Use it only for attempts. The same code from a statement that renews or
// releases is no evidence about the lock, so do not pass this classifier to an
// election that receives such errors.
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
