// Package k8slease makes client-go's leader election observable, in one call
// that keeps everything of its configuration:
//
//	leaderelection.RunOrDie(ctx, k8slease.Instrument(config, election))
//
// [Lock] wraps the resource lock alone, for frameworks that make the elector
// themselves. For controller-runtime there is package ctrllease. client-go's
// own metrics hook is not used: its first caller wins, and its gauge stays at 1
// after a graceful stop.
//
// What leadership means to the application does not belong here.
package k8slease
