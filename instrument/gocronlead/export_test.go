package gocronlead

import (
	"github.com/go-co-op/gocron/v2"

	"github.com/leaderscope/leaderscope/instrument"
)

// Open is the number of names that a locker keeps.
func Open(k *JobLocker) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.open)
}

// SetRedisLockModule has the lockers of a package taken for those of
// gocron-redis-lock.
func SetRedisLockModule(path string) (restore func()) {
	was := redisLockModule
	redisLockModule = path
	return func() { redisLockModule = was }
}

// Asking is how a JobLocker asks a locker for the lock of a job.
func Asking(locker gocron.Locker, job string) instrument.Acquirer {
	return &asked{locker: locker, name: job}
}
