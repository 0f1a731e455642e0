package classify

import (
	"errors"

	"github.com/leaderscope/leaderscope/instrument"
)

// EtcdMutex classifies errors of etcd's concurrency package:
//
//	classify.EtcdMutex(concurrency.ErrLocked, concurrency.ErrSessionExpired, concurrency.ErrLockReleased)
func EtcdMutex(errLocked, errSessionExpired, errLockReleased error) instrument.Classifier {
	return First(ContendedIs(errLocked), SessionLostIs(errSessionExpired, errLockReleased))
}

// Consul classifies errors of consul/api:
//
//	classify.Consul(api.ErrLockHeld, api.ErrLockNotHeld)
//
// After a loss ErrLockHeld comes back until Unlock is called.
func Consul(errLockHeld, errLockNotHeld error) instrument.Classifier {
	return First(AlreadyHeldIs(errLockHeld), SessionLostIs(errLockNotHeld))
}

// ZooKeeper classifies errors of go-zookeeper:
//
//	classify.ZooKeeper(zk.ErrDeadlock, zk.ErrNotLocked, zk.ErrSessionExpired)
func ZooKeeper(errDeadlock, errNotLocked, errSessionExpired error) instrument.Classifier {
	return First(AlreadyHeldIs(errDeadlock), SessionLostIs(errNotLocked, errSessionExpired))
}

// NATSKeyValue classifies errors of a lease in a JetStream key-value bucket:
//
//	classify.NATSKeyValue(jetstream.ErrKeyExists, func(e *jetstream.APIError) uint16 { return uint16(e.ErrorCode) })
//
// "Wrong last sequence" means that another wrote the key first: Create finds
// that the lock is held, Update and Delete that it is lost. A bucket with
// replicas answers with another code than one without, and not always with
// ErrKeyExists.
func NATSKeyValue[APIError error](errKeyExists error, code func(APIError) uint16) instrument.Classifier {
	return First(ContendedIs(errKeyExists), instrument.ClassifierFunc(func(err error) (instrument.Reason, bool) {
		answer, ok := errors.AsType[APIError](err)
		if !ok || code == nil {
			return 0, false
		}
		switch code(answer) {
		case natsWrongLastSequence, natsWrongLastSequenceReplicated:
			return instrument.Contended, true
		}
		return 0, false
	}))
}

// Error codes of a NATS server, from its errors.json.
const (
	natsWrongLastSequence           = 10071
	natsWrongLastSequenceReplicated = 10164
)

// BluetapeGo classifies errors of bluetape-go's leader package:
//
//	classify.BluetapeGo(leader.ErrAlreadyLeader, leader.ErrCampaignInProgress)
func BluetapeGo(errAlreadyLeader, errCampaignInProgress error) instrument.Classifier {
	return AlreadyHeldIs(errAlreadyLeader, errCampaignInProgress)
}

// MongoLock classifies errors of square/mongo-lock:
//
//	classify.MongoLock(lock.ErrAlreadyLocked, lock.ErrLockNotFound)
func MongoLock(errAlreadyLocked, errLockNotFound error) instrument.Classifier {
	return First(ContendedIs(errAlreadyLocked), SessionLostIs(errLockNotFound))
}
