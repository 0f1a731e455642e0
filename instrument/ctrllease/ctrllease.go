package ctrllease

import (
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/leaderelection"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/k8slease"
)

// NewManager calls manager.New so that e reports the leader election of the
// manager and the runnables that it starts as leader. Errors are those of
// manager.New. A manager without leader election, and a nil e, record nothing.
//
// A stopping manager ends its runnables first and releases its lease when they
// have returned: leader_active stays 1 until then. Runnables that are added
// through the returned manager count in leader_running, one each. Runnables that
// run on every replica, caches and webhooks do not.
func NewManager(config *rest.Config, options manager.Options, e *instrument.Election) (manager.Manager, error) {
	shown, err := Instrument(config, options, e)
	lock, observable := shown.LeaderElectionResourceLockInterface.(*k8slease.ResourceLock)
	if err != nil || !observable {
		return manager.New(config, options) // says in its own words what is wrong
	}
	m, err := manager.New(config, shown)
	if err != nil {
		return nil, err
	}
	return observed{m, lock}, nil
}

// Instrument returns options with a wrapped resource lock, so that e reports the
// leader election of the manager. The lock is the one that manager.New would have
// made from config and options, or the one in options, unless it is already
// wrapped; options itself is not changed. Use the result for one manager. The
// runnables of the manager are not counted; use NewManager for that.
//
// Errors are those with which manager.New refuses a leader election. Options
// without leader election are returned unchanged, also with a nil e.
func Instrument(config *rest.Config, options manager.Options, e *instrument.Election) (manager.Options, error) {
	if !options.LeaderElection || e == nil {
		return options, nil
	}
	switch given := options.LeaderElectionResourceLockInterface.(type) {
	case *k8slease.ResourceLock:
	case nil:
		lock, err := newResourceLock(config, options)
		if err != nil {
			return options, err
		}
		options.LeaderElectionResourceLockInterface = k8slease.Lock(lock, e)
	default:
		options.LeaderElectionResourceLockInterface = k8slease.Lock(given, e)
	}
	return options, nil
}

// defaultRenewDeadline is the manager's.
const defaultRenewDeadline = 10 * time.Second

// newResourceLock makes the lock as manager.New does.
func newResourceLock(config *rest.Config, options manager.Options) (resourcelock.Interface, error) {
	if options.LeaderElectionConfig != nil {
		config = options.LeaderElectionConfig
	}
	recorders, err := newRecorders(config, options)
	if err != nil {
		return nil, err
	}
	deadline := defaultRenewDeadline
	if options.RenewDeadline != nil {
		deadline = *options.RenewDeadline
	}
	config = rest.CopyConfig(config) // it is changed
	lock, err := leaderelection.NewResourceLock(config, recorders, leaderelection.Options{
		LeaderElection:             true,
		LeaderElectionResourceLock: options.LeaderElectionResourceLock,
		LeaderElectionNamespace:    options.LeaderElectionNamespace,
		LeaderElectionID:           options.LeaderElectionID,
		RenewDeadline:              deadline,
		LeaderLabels:               options.LeaderElectionLabels,
	})
	if err != nil {
		return nil, err
	}
	if options.LeaderElectionConfig != nil {
		return lock, nil // the manager never stops these recorders, either
	}
	return recorded{lock, recorders}, nil
}
