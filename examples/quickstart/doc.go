// Quickstart shows leader election made observable, with real faults. It
// starts three replicas of itself, each a member of an etcd cluster and a
// candidate, scrapes them, evaluates the generated alerting rules, breaks
// things one after another, and checks that exactly the right alerts fire.
//
// A replica is replica.go and job.go: that is what a service would write. The
// rest is the stage: cluster.go and process.go run the replicas, observer.go
// is a small Prometheus, phases.go the faults and what they should set off.
package main
