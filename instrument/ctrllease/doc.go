// Package ctrllease makes the leader election of a controller-runtime manager
// observable. [NewManager] replaces manager.New, which is ctrl.NewManager:
//
//	mgr, err := ctrllease.NewManager(config, options, election)
//
// [Instrument] changes only the options, for frameworks that create the manager
// themselves. Everything that the manager would have chosen for its election is
// kept: namespace, identity, events, client and its timeout, lease settings.
//
// What the elector of client-go reports is decided in package k8slease. What
// leadership means to the application does not belong here.
package ctrllease
