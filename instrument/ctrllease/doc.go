// Package ctrllease makes the leader election of a controller-runtime manager
// observable. [NewManager] takes the place of manager.New, which is
// ctrl.NewManager:
//
//	mgr, err := ctrllease.NewManager(config, options, election)
//
// [Instrument] changes the options alone, for frameworks that make the manager
// themselves. Everything that the manager would have chosen for its election
// stays: namespace, identity, events, client and its timeout, lease settings.
//
// What the elector of client-go shows is decided in package k8slease. What
// leadership means to the application does not belong here.
package ctrllease
