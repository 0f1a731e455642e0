// Package k8slease makes client-go's leader election observable with one call
// that keeps the rest of its configuration:
//
//	leaderelection.RunOrDie(ctx, k8slease.Instrument(config, election))
//
// [Lock] wraps only the resource lock, for frameworks that create the elector
// themselves. For controller-runtime use package ctrllease. client-go's own
// metrics hook is not used: only its first caller takes effect, and its gauge
// stays 1 after a graceful stop.
//
// What leadership means to the application does not belong here.
package k8slease
