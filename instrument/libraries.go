package instrument

import (
	"context"
	"errors"
)

// Classifiers of the libraries that people use. They take the library's own
// sentinels and types, so that this package imports none of them:
//
//	instrument.Classify(instrument.Redislock(redislock.ErrNotObtained, redislock.ErrLockNotHeld))

// Redislock classifies errors of bsm/redislock. Its Obtain gives up with a
// deadline of its own, which is contention while the caller's context lives.
func Redislock(errNotObtained, errLockNotHeld error) Classifier {
	return firstOf(ContendedIs(errNotObtained, context.DeadlineExceeded), SessionLostIs(errLockNotHeld))
}

// Redsync classifies errors of go-redsync: Redsync[*redsync.ErrTaken,
// *redsync.RedisError](redsync.ErrLockAlreadyExpired). One node that is taken
// and others that are down are a failed backend, not contention.
func Redsync[Taken, Failed error](errLockAlreadyExpired error) Classifier {
	return func(err error) (Reason, bool) {
		if _, failed := errors.AsType[Failed](err); failed {
			return BackendError, true
		}
		return firstOf(ContendedAs[Taken](), SessionLostIs(errLockAlreadyExpired))(err)
	}
}

// Rueidislock classifies errors of rueidislock. Its own short timeouts stay
// backend errors.
func Rueidislock(errNotLocked error) Classifier { return AfterContext(ContendedIs(errNotLocked)) }

// EtcdMutex classifies errors of etcd's concurrency package.
func EtcdMutex(errLocked, errSessionExpired, errLockReleased error) Classifier {
	return firstOf(ContendedIs(errLocked), SessionLostIs(errSessionExpired, errLockReleased))
}

// Consul classifies errors of consul/api. After a loss ErrLockHeld comes back
// until Unlock is called.
func Consul(errLockHeld, errLockNotHeld error) Classifier {
	return firstOf(AlreadyHeldIs(errLockHeld), SessionLostIs(errLockNotHeld))
}

// ZooKeeper classifies errors of go-zookeeper.
func ZooKeeper(errDeadlock, errNotLocked, errSessionExpired error) Classifier {
	return firstOf(AlreadyHeldIs(errDeadlock), SessionLostIs(errNotLocked, errSessionExpired))
}

// Dynamolock classifies errors of dynamolock:
// Dynamolock[*dynamolock.LockNotGrantedError](dynamolock.ErrLockAlreadyReleased).
func Dynamolock[NotGranted error](errLockAlreadyReleased error) Classifier {
	return firstOf(AfterContext(ContendedAs[NotGranted]()), SessionLostIs(errLockAlreadyReleased))
}

// Pglock classifies errors of pglock, whose ErrNotAcquired also answers a
// cancelled caller.
func Pglock(errNotAcquired, errLockAlreadyReleased error) Classifier {
	return firstOf(AfterContext(ContendedIs(errNotAcquired)), SessionLostIs(errLockAlreadyReleased))
}

// NATSKeyValue classifies errors of a JetStream key-value lease: Create meets
// a key, Update and Delete meet another revision.
func NATSKeyValue(errKeyExists error, mismatch func(error) bool) Classifier {
	return func(err error) (Reason, bool) {
		if mismatch != nil && mismatch(err) {
			return SessionLost, true
		}
		return ContendedIs(errKeyExists)(err)
	}
}

// Kubernetes classifies errors of a resource lock by apierrors.IsConflict and
// apierrors.IsAlreadyExists.
func Kubernetes(isConflict, isAlreadyExists func(error) bool) Classifier {
	return func(err error) (Reason, bool) {
		return Contended, isConflict(err) || isAlreadyExists(err)
	}
}

// BluetapeGo classifies errors of bluetape-go's leader package.
func BluetapeGo(errAlreadyLeader, errCampaignInProgress error) Classifier {
	return AlreadyHeldIs(errAlreadyLeader, errCampaignInProgress)
}

// MongoLock classifies errors of square/mongo-lock.
func MongoLock(errAlreadyLocked, errLockNotFound error) Classifier {
	return firstOf(ContendedIs(errAlreadyLocked), SessionLostIs(errLockNotFound))
}

// SQLState classifies errors of PostgreSQL by their code, for drivers whose
// error has a method SQLState, as pgx and lib/pq have: 55P03 means that the
// lock could not be had within lock_timeout, 57014 that the query was
// cancelled, which the caller's context explains better.
func SQLState() Classifier {
	return func(err error) (Reason, bool) {
		coded, ok := errors.AsType[interface {
			error
			SQLState() string
		}](err)
		if !ok || coded.SQLState() != "55P03" {
			return 0, false
		}
		return Contended, true
	}
}

func firstOf(classifiers ...Classifier) Classifier {
	return func(err error) (Reason, bool) {
		for _, c := range classifiers {
			if reason, ok := c(err); ok {
				return reason, true
			}
		}
		return 0, false
	}
}
