package gocronlead

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/go-co-op/gocron/v2"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/classify"
)

// attempt is one call of Lock.
type attempt struct {
	acquirer instrument.Acquirer
	asked    *asked // nil for a locker of ours
}

func (k *JobLocker) attempt(name string) attempt {
	if own, ok := k.next.(*acquirers); ok {
		return attempt{acquirer: own.acquirer(name)}
	}
	a := &asked{locker: k.next, name: name}
	return attempt{a, a}
}

// answer is what the locker answered when nothing was won.
func (a attempt) answer(err error) (gocron.Lock, error) {
	if a.asked == nil {
		return nil, err
	}
	return a.asked.lock, a.asked.err
}

// asked asks a locker once.
type asked struct {
	locker gocron.Locker
	name   string
	lock   gocron.Lock
	err    error
}

// Format keeps the name of the job from code that prints it.
func (a *asked) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "gocron lock") }

func (a *asked) Acquire(ctx context.Context) (instrument.Lease, error) {
	if a.locker == nil {
		a.err = errNoLocker
		return nil, a.err
	}
	a.lock, a.err = a.locker.Lock(ctx, a.name)
	if a.err != nil || a.lock == nil {
		return nil, a.err
	}
	return leaseOf(a.lock), nil
}

var errNoLocker = errors.New("leaderscope: gocron: the locker is nil: pass a gocron.Locker to gocronlead.Locker")

// uniqueViolation is the SQLSTATE of a row that is there already.
const uniqueViolation = "23505"

// Classify names the reason of an error of Lock. Those of Unlock say nothing
// for certain.
func (a *asked) Classify(err error) (instrument.Reason, bool) {
	if a.err == nil {
		return 0, false
	}
	if a.locker != nil && redisLock(a.locker) && bare(err) {
		return instrument.ContendedUnlessDone, true
	}
	if coded, ok := errors.AsType[sqlError](err); ok && coded.SQLState() == uniqueViolation {
		return instrument.Contended, true // of lockers that insert a row for a lock
	}
	return classify.SQLState().Classify(err)
}

type sqlError interface {
	error
	SQLState() string
}

// redisLock recognises the locker of gocron-redis-lock by its type, so that
// no program links Redis that does not use it. Its Lock answers every failure with
// ErrFailedToObtainLock and nothing else.
func redisLock(locker gocron.Locker) bool {
	t := reflect.TypeOf(locker)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return strings.HasPrefix(t.PkgPath()+"/", redisLockModule)
}

var redisLockModule = "github.com/go-co-op/gocron-redis-lock/" // changed by tests, which do not link it

// bare reports an error that wraps none: one that wraps its cause says more.
func bare(err error) bool {
	switch err.(type) {
	case interface{ Unwrap() error }, interface{ Unwrap() []error }:
		return false
	}
	return true
}
