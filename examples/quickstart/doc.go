// Quickstart demonstrates observable leader election with real faults. It
// starts three replicas of itself, each a member of an etcd cluster and a
// candidate, scrapes them, evaluates the generated alerting rules, injects faults
// one after another, and checks that exactly the expected alerts fire.
//
// A replica is replica.go and job.go, the code of a service. The rest is the
// demonstration: cluster.go and process.go run the replicas, observer.go is a
// small Prometheus, phases.go has the faults and the alerts that they must fire.
package main
