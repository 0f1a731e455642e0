package classify

import (
	"github.com/leaderscope/leaderscope/instrument"
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
