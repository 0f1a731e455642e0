// Package k8slease makes client-go's leader election observable.
//
// [Instrument] takes the configuration of an election and returns it with the
// resource lock and the callbacks wrapped. [Lock] wraps the resource lock
// alone, for frameworks that own the callbacks, such as controller-runtime.
// client-go's own metrics hook is not used: its first caller wins, and its
// gauge stays at 1 after a graceful stop.
//
// What leadership means to the application does not belong here.
package k8slease
