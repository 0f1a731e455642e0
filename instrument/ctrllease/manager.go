package ctrllease

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/leaderscope/leaderscope/instrument/k8slease"
)

// observed is a manager that sees what it starts when it leads.
type observed struct {
	manager.Manager
	lock *k8slease.ResourceLock
}

// Add adds the runnable, as work of the term if only the leader starts it.
func (m observed) Add(r manager.Runnable) error { return m.Manager.Add(m.asWork(r)) }

// asWork wraps what the manager starts when it leads, and leaves the rest. What
// the manager asks of a runnable, it can ask of the result.
func (m observed) asWork(r manager.Runnable) manager.Runnable {
	switch r := r.(type) {
	case nil, hasCache, webhook.Server:
		return r
	case manager.LeaderElectionRunnable:
		if !r.NeedLeaderElection() {
			return r.(manager.Runnable)
		}
	}
	w := work{r, m.lock}
	if warm, ok := r.(warmupRunnable); ok {
		return warmWork{w, warm}
	}
	return w
}

// The manager's own conditions for a runnable.
type (
	hasCache interface {
		manager.Runnable
		GetCache() cache.Cache
	}
	warmupRunnable interface{ Warmup(context.Context) error }
)

// work is a runnable of the leader.
type work struct {
	runnable manager.Runnable
	lock     *k8slease.ResourceLock
}

// NeedLeaderElection says that it is the leader's.
func (work) NeedLeaderElection() bool { return true }

// Start runs it as work of the term, under the manager's own context.
func (w work) Start(ctx context.Context) error {
	return w.lock.Work(ctx, func(context.Context) error { return w.runnable.Start(ctx) })
}

// warmWork is one that the manager also starts before it leads.
type warmWork struct {
	work
	warmupRunnable
}
